// Tensors of other frameworks, as DLPack describes them.
#include <dlpack/dlpack.h>

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "runtime/api_handles.h"

namespace onepass {
namespace {

template <typename... Parts>
absl::Status Invalid(absl::string_view name, const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", parts...));
}

std::string Sizes(llvm::ArrayRef<int64_t> sizes) { return absl::StrJoin(sizes, "x"); }

DLDataType TypeOf(DType dtype) {
  const uint8_t bits = static_cast<uint8_t>(8 * SizeOf(dtype));
  if (dtype == DType::kI64) return {kDLInt, bits, 1};
  return {static_cast<uint8_t>(dtype == DType::kBF16 ? kDLBfloat : kDLFloat), bits, 1};
}

absl::Status CheckType(absl::string_view name, const DLDataType& got, DType wanted) {
  const DLDataType type = TypeOf(wanted);
  if (got.code == type.code && got.bits == type.bits && got.lanes == type.lanes)
    return absl::OkStatus();
  return Invalid(name, "has DLPack type (", int{got.code}, ", ", int{got.bits}, " bits, ",
                 int{got.lanes}, " lanes), but the problem wants ", ToString(wanted));
}

// The strides of axes that are longer than one step must be the problem's.
absl::Status CheckStrides(absl::string_view name, const DLTensor& got, const TensorSpec& wanted) {
  int64_t row_major = 1;
  for (int axis = got.ndim - 1; axis >= 0; --axis) {
    const int64_t stride = got.strides == nullptr ? row_major : got.strides[axis];
    row_major *= got.shape[axis];
    if (wanted.dims[axis] > 1 && stride != wanted.strides[axis])
      return Invalid(name, "has stride ", stride, " in axis ", axis, ", but the problem wants ",
                     wanted.strides[axis]);
  }
  return absl::OkStatus();
}

absl::Status CheckSizes(absl::string_view name, const DLTensor& got, const TensorSpec& wanted) {
  const llvm::ArrayRef<int64_t> shape(got.shape, std::max(got.ndim, 0));
  if (std::equal(shape.begin(), shape.end(), wanted.dims.begin(), wanted.dims.end()))
    return absl::OkStatus();
  return Invalid(name, "is ", Sizes(shape), ", but the problem wants ", Sizes(wanted.dims));
}

// Whether kernels on `device` can reach memory of `where`.
absl::Status CheckDevice(absl::string_view name, const DLDevice& where, const Device& device) {
  absl::string_view number = device.name();
  int ordinal = 0;
  const bool cuda = absl::ConsumePrefix(&number, "cuda:") && absl::SimpleAtoi(number, &ordinal);
  const bool reachable = cuda ? where.device_type == kDLCUDA || where.device_type == kDLCUDAManaged
                              : where.device_type == kDLExtDev;
  if (reachable && where.device_id == ordinal) return absl::OkStatus();
  return Invalid(name, "lies on DLPack device (", static_cast<int>(where.device_type), ", ",
                 where.device_id, "), which kernels on ", device.name(), " cannot reach");
}

absl::Status CheckTensor(absl::string_view name, const DLTensor& got, const TensorSpec& wanted,
                         const Device& device) {
  if (absl::Status s = CheckType(name, got.dtype, wanted.dtype); !s.ok()) return s;
  if (absl::Status s = CheckSizes(name, got, wanted); !s.ok()) return s;
  if (absl::Status s = CheckStrides(name, got, wanted); !s.ok()) return s;
  return CheckDevice(name, got.device, device);
}

absl::Status TakeAddresses(const onepass_engine& engine, const onepass_problem& problem,
                           llvm::ArrayRef<onepass_dlpack> tensors,
                           llvm::MutableArrayRef<uint64_t> addresses) {
  std::vector<bool> given(addresses.size(), false);
  std::fill(addresses.begin(), addresses.end(), 0);
  for (const onepass_dlpack& entry : tensors) {
    if (entry.name == nullptr || entry.tensor == nullptr)
      return Invalid("tensors", "a name or tensor is null");
    const int index = onepass_problem_find(&problem, entry.name);
    if (index < 0) return Invalid(entry.name, "no tensor of ", problem.text, " has this name");
    if (given[index]) return Invalid(entry.name, "is given twice");
    given[index] = true;
    const auto& tensor = *static_cast<const DLTensor*>(entry.tensor);
    absl::Status checked =
        CheckTensor(entry.name, tensor, problem.places.specs()[index], *engine.device);
    if (!checked.ok()) return checked;
    addresses[index] = reinterpret_cast<uint64_t>(tensor.data) + tensor.byte_offset;
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i] && problem.places.shares(static_cast<int>(i)) < 0)
      return Invalid(problem.names[i], "is missing");
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace onepass

extern "C" onepass_status onepass_dlpack_addresses(const onepass_engine* engine,
                                                   const onepass_problem* problem,
                                                   const onepass_dlpack* tensors, size_t count,
                                                   uint64_t* addresses) {
  if (engine == nullptr || problem == nullptr || tensors == nullptr || addresses == nullptr)
    return onepass::ReportNull(engine == nullptr    ? "engine"
                               : problem == nullptr ? "problem"
                               : tensors == nullptr ? "tensors"
                                                    : "addresses");
  return onepass::Guarded([&] {
    return onepass::Report(onepass::TakeAddresses(*engine, *problem, {tensors, count},
                                                  {addresses, problem->names.size()}));
  });
}
