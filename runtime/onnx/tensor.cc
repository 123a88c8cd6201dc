#include "runtime/onnx/tensor.h"

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "onnx/onnx_pb.h"
#include "runtime/npy.h"
#include "runtime/whole_file.h"

namespace onepass::model {
namespace {

// The typed fields that a tensor's values may lie in where raw_data is not used; the narrow types
// lie in int32s.
template <typename To, typename Field>
std::string Pack(const Field& field) {
  std::string bytes(field.size() * sizeof(To), '\0');
  for (int i = 0; i < field.size(); ++i) {
    const To value = static_cast<To>(field.Get(i));
    std::memcpy(bytes.data() + i * sizeof(To), &value, sizeof(To));
  }
  return bytes;
}

std::string TypedData(const onnx::TensorProto& proto, DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return Pack<float>(proto.float_data());
    case DType::kF64:
      return Pack<double>(proto.double_data());
    case DType::kI64:
      return Pack<int64_t>(proto.int64_data());
    case DType::kF16:
    case DType::kBF16:
      return Pack<uint16_t>(proto.int32_data());
  }
  return "";
}

template <typename Word>
Word WordAt(const Tensor& tensor, int64_t index) {
  Word word;
  std::memcpy(&word, tensor.bytes.data() + index * sizeof(Word), sizeof(Word));
  return word;
}

double HalfValue(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = 0;
  if (exponent == 31) {
    value = fraction == 0 ? INFINITY : NAN;
  } else {
    value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  }
  return bits & 0x8000 ? -value : value;
}

double Bfloat16Value(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

}  // namespace

std::string ToString(const TensorType& type) {
  return absl::StrCat(onepass::ToString(type.dtype), "[", absl::StrJoin(type.shape, "x"), "]");
}

absl::StatusOr<DType> DTypeOf(int onnx_type) {
  switch (onnx_type) {
    case onnx::TensorProto::FLOAT:
      return DType::kF32;
    case onnx::TensorProto::FLOAT16:
      return DType::kF16;
    case onnx::TensorProto::BFLOAT16:
      return DType::kBF16;
    case onnx::TensorProto::DOUBLE:
      return DType::kF64;
    default:
      return absl::UnimplementedError(
          absl::StrCat("elements of type ",
                       onnx::TensorProto::DataType_IsValid(onnx_type)
                           ? onnx::TensorProto::DataType_Name(
                                 static_cast<onnx::TensorProto::DataType>(onnx_type))
                           : absl::StrCat("number ", onnx_type),
                       " are not supported"));
  }
}

absl::StatusOr<Tensor> TensorOf(const onnx::TensorProto& proto) {
  const auto dtype = DTypeOf(proto.data_type());
  if (!dtype.ok()) return dtype.status();
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    return absl::UnimplementedError(
        absl::StrCat("tensor '", proto.name(), "' lies in another file"));
  }
  Tensor tensor{.type = {.dtype = *dtype}};
  __int128 bytes = SizeOf(*dtype);
  for (const int64_t size : proto.dims()) {
    tensor.type.shape.push_back(size);
    // Past the end of any file the product is wrong whatever follows, unless that is 0.
    bytes = size < 0 ? -1 : std::min<__int128>(bytes * size, __int128{1} << 62);
    if (bytes < 0) break;
  }
  tensor.bytes = proto.has_raw_data() ? proto.raw_data() : TypedData(proto, *dtype);
  if (bytes != static_cast<__int128>(tensor.bytes.size())) {
    return absl::InvalidArgumentError(absl::StrCat("tensor '", proto.name(), "' of ",
                                                   ToString(tensor.type), " has ",
                                                   tensor.bytes.size(), " bytes of data"));
  }
  return tensor;
}

absl::StatusOr<Tensor> ReadTensorFile(const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadWholeFile(path);
  if (!bytes.ok()) return bytes.status();
  onnx::TensorProto proto;
  if (bytes->empty() || !proto.ParseFromString(*bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is no ONNX tensor"));
  }
  absl::StatusOr<Tensor> tensor = TensorOf(proto);
  if (tensor.ok()) return tensor;
  return absl::Status(tensor.status().code(), absl::StrCat(path, ": ", tensor.status().message()));
}

absl::StatusOr<HostTensor> ToHost(const Tensor& tensor, const TensorSpec& spec) {
  if (tensor.type.dtype != spec.dtype || ElementsOf(tensor.type.shape) != spec.elements()) {
    const TensorType wanted{spec.dtype, Shape(spec.dims.begin(), spec.dims.end())};
    return absl::InvalidArgumentError(absl::StrCat(spec.name(), ": wanted ", ToString(wanted),
                                                   ", found ", ToString(tensor.type)));
  }
  return FromLogicalBytes(spec, tensor.bytes);
}

Tensor FromHost(const HostTensor& tensor, const Shape& shape) {
  return {{tensor.spec.dtype, shape}, LogicalBytes(tensor)};
}

double ValueAt(const Tensor& tensor, int64_t index) {
  switch (tensor.type.dtype) {
    case DType::kF32:
      return WordAt<float>(tensor, index);
    case DType::kF64:
      return WordAt<double>(tensor, index);
    case DType::kF16:
      return HalfValue(WordAt<uint16_t>(tensor, index));
    case DType::kBF16:
      return Bfloat16Value(WordAt<uint16_t>(tensor, index));
    case DType::kI64:
      return static_cast<double>(WordAt<int64_t>(tensor, index));
  }
  return NAN;
}

}  // namespace onepass::model
