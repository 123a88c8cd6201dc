// Tensors as models keep them: dense, in C order, of any rank.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "codegen/dtype.h"
#include "codegen/roles.h"
#include "llvm/ADT/SmallVector.h"
#include "runtime/reference/reference.h"

namespace onnx {
class TensorProto;
}

namespace onepass::model {

using Shape = llvm::SmallVector<int64_t, 5>;

struct TensorType {
  DType dtype = DType::kF32;
  Shape shape = {};
};

struct Tensor {
  TensorType type;
  std::string bytes = {};
};

// "f32[2x3]"
std::string ToString(const TensorType& type);

// kUnimplemented: an element type that onepass does not compute in, or data in another file.
// kInvalidArgument: the data does not fit the shape.
absl::StatusOr<Tensor> TensorOf(const onnx::TensorProto& proto);
// The element type by ONNX's number for it; kUnimplemented names what has no counterpart.
absl::StatusOr<DType> DTypeOf(int onnx_type);

// A file that holds one TensorProto. kInvalidArgument names the file.
absl::StatusOr<Tensor> ReadTensorFile(const std::string& path);

// The same elements under a problem's own shape, which has as many; kInvalidArgument where it has
// not or where the type differs.
absl::StatusOr<HostTensor> ToHost(const Tensor& tensor, const TensorSpec& spec);
Tensor FromHost(const HostTensor& tensor, const Shape& shape);

// Element `index` as a number, for comparing and for constants.
double ValueAt(const Tensor& tensor, int64_t index);

}  // namespace onepass::model
