#include "codegen/dtype.h"

namespace onepass {

absl::string_view ToString(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kF16:
      return "f16";
    case DType::kBF16:
      return "bf16";
    case DType::kF64:
      return "f64";
    case DType::kI64:
      return "i64";
  }
  return "";
}

std::optional<DType> ParseDType(absl::string_view text) {
  for (DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kF64}) {
    if (text == ToString(dtype)) return dtype;
  }
  return std::nullopt;
}

absl::string_view ToString(Layout layout) {
  return layout == Layout::kChannelsFirst ? "nchw" : "nhwc";
}

}  // namespace onepass
