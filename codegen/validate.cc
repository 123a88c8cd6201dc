#include "codegen/validate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "codegen/number_text.h"
#include "codegen/operators.h"
#include "codegen/problem_words.h"
#include "codegen/roles.h"
#include "codegen/validate_parts.h"

namespace onepass {

namespace {

using absl::Status;

constexpr int kMaxRank = 5;

// Sizes are not negative and their product, in bytes, fits 63 bits.
Status CheckSizes(absl::string_view name, const Dims& dims, DType dtype) {
  if (dims.empty() || dims.size() > kMaxRank) {
    return Invalid(name, ": has ", dims.size(), " axes; 1 to ", kMaxRank, " are known");
  }
  for (int64_t size : dims) {
    if (size < 0) return Invalid(name, ": size ", size, " in ", PrintSizes(dims), " is negative");
  }
  if (ElementsOf(dims) > INT64_MAX / SizeOf(dtype)) {
    return Invalid(name, ": ", PrintSizes(dims), " ", ToString(dtype),
                   " does not fit 63 bits of bytes");
  }
  return absl::OkStatus();
}

// In a problem without elements, x says nothing of how large its parameters are.
Status CheckTensors(const Problem& p) {
  for (const TensorSpec& spec : TensorsOf(p)) {
    if (Status status = CheckSizes(spec.name(), spec.dims, spec.dtype); !status.ok()) return status;
  }
  return absl::OkStatus();
}

Status CheckStrides(absl::string_view name, const Dims& strides, const Dims& dims, DType dtype) {
  if (strides.empty()) return absl::OkStatus();
  if (strides.size() != dims.size()) {
    return Invalid(name, ": has ", strides.size(), " strides but the tensor has ", dims.size(),
                   " axes");
  }
  int64_t bytes = SizeOf(dtype);
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (strides[axis] < 0) return Invalid(name, ": stride ", strides[axis], " is negative");
    int64_t reach;
    if (__builtin_mul_overflow(strides[axis], int64_t{SizeOf(dtype)}, &reach) ||
        __builtin_mul_overflow(reach, dims[axis] > 0 ? dims[axis] - 1 : 0, &reach) ||
        __builtin_add_overflow(bytes, reach, &bytes)) {
      return Invalid(name, ": stride ", strides[axis], " of ", dims[axis],
                     " elements does not fit 63 bits");
    }
  }
  return absl::OkStatus();
}

Status CheckRank(const Problem& p) {
  if (p.layout == Layout::kChannelsLast && p.rank() < 2) {
    return Invalid("layout: nhwc needs 2 to 5 axes but x has ", p.rank());
  }
  int least = 1;
  if ((BitOf(p.op) & (kBatchNorms | kGroupNorms | kInstanceNorms)) != 0) least = 2;
  if (IsPool(p.op)) least = 3;
  // An empty vector has no channels to miss; PyTorch takes it.
  if (IsBatchNorm(p.op) && p.elements() == 0) least = 1;
  if (p.rank() >= least) return absl::OkStatus();
  return Invalid("dims: ", ToString(p.op), " needs at least ", least, " axes but x is ",
                 PrintSizes(p.dims));
}

Status CheckActivation(const Activation& act, DType dtype) {
  const ActivationRow& row = RowOf(act.kind);
  if (row.parameters == 0) return absl::OkStatus();
  const auto refuse = [&](absl::string_view why) {
    return Invalid("act: ", ToString(act), ": ", why);
  };
  if (std::isnan(act.alpha) || std::isnan(act.beta)) return refuse("a constant is NaN");
  const bool infinite = std::isinf(act.alpha) || std::isinf(act.beta);
  switch (act.kind) {
    case ActivationKind::kClip:
      return act.alpha > act.beta ? refuse("the low end lies above the high end")
                                  : absl::OkStatus();
    case ActivationKind::kCelu:
    case ActivationKind::kSoftplus:
      if (act.alpha == 0) return refuse("the first constant is a divisor and must not be 0");
      break;
    case ActivationKind::kSoftshrink:
      if (act.alpha < 0) return refuse("the constant must not be negative");
      break;
    default:
      break;
  }
  if (infinite) return refuse("a constant is infinite");
  // Half types compute in float too.
  const double largest = std::max(std::abs(act.alpha), std::abs(act.beta));
  return dtype != DType::kF64 && largest > std::numeric_limits<float>::max()
             ? refuse("a constant is larger than float holds")
             : absl::OkStatus();
}

Status CheckOperands(const Problem& p) {
  char last = '`';  // before 'a'
  for (const Operand& operand : p.operands) {
    const char name[] = {operand.name, 0};
    if (operand.name <= last || operand.name > 'c')
      return Invalid(name, ": operands are a, b, c in order");
    last = operand.name;
    if (Status status = CheckSizes(name, operand.dims, p.dtype); !status.ok()) return status;
    if (!p.expr || !UsesInput(*p.expr, operand.name))
      return Invalid(name, ": is declared but nothing reads it");
  }
  if (!p.expr) return absl::OkStatus();
  if (p.act.kind != ActivationKind::kIdentity) return Invalid("act: is given beside expr");
  for (char name = 'a'; name <= 'c'; ++name) {
    bool declared = false;
    for (const Operand& operand : p.operands) declared = declared || operand.name == name;
    const char text[] = {name, 0};
    if (!declared && UsesInput(*p.expr, name))
      return Invalid(text, ": is read by expr but not declared");
  }
  if (p.operands.empty()) return absl::OkStatus();
  const Dims y = OutputDims(p);
  if (y.empty()) {
    const Dims& a = p.operands.back().dims;
    return Invalid(std::string(1, p.operands.back().name), ": ", PrintSizes(a),
                   " does not broadcast with x ", PrintSizes(p.dims), " and the other operands");
  }
  return CheckSizes("y", y, p.dtype);
}

Status CheckStage(const Problem& p) {
  if (Status status = CheckSizes("x", p.dims, p.dtype); !status.ok()) return status;
  if (Status status = CheckRank(p); !status.ok()) return status;
  if (IsPool(p.op)) return CheckPool(p);
  if (Status status = CheckActivation(p.act, p.dtype); !status.ok()) return status;
  return IsNorm(p.op) ? CheckNorm(p) : CheckOperands(p);
}

Status CheckAlign(const Problem& p) {
  constexpr int64_t kLargest = 2048;  // a page holds both residues
  if (p.align < 0 || (p.align & (p.align - 1)) != 0 || p.align > kLargest) {
    return Invalid("align: ", p.align, " is not a power of two up to ", kLargest);
  }
  if (p.align < SizeOf(p.dtype)) {
    return Invalid("align: ", p.align, " is less than the ", SizeOf(p.dtype), " bytes of ",
                   ToString(p.dtype));
  }
  return absl::OkStatus();
}

// y on x, or dx on dy: every element of the result must lie where only it is computed from.
Status CheckInplace(const Problem& p) {
  const bool grad = IsGrad(p.op);
  const absl::string_view pair = grad ? "dx on dy" : "y on x";
  for (int k = 0; k <= static_cast<int>(p.next.size()); ++k) {
    const Problem& stage = k == 0 ? p : p.next[k - 1];
    if (IsPool(stage.op)) {
      return Unimplemented("inplace: ", ToString(stage.op), " cannot write ", pair);
    }
  }
  const Dims y = OutputDims(p.next.empty() ? p : p.next.back());
  if (y != p.dims) {
    return Unimplemented("inplace: ", pair, " needs equal sizes but x is ", PrintSizes(p.dims),
                         " and y ", PrintSizes(y));
  }
  const Dims& strides = grad ? p.dy_strides : p.strides;
  if (!strides.empty() && strides != DenseStrides(p.dims, p.layout)) {
    return Unimplemented("inplace: ", pair, " needs dense memory but ", grad ? "dy" : "x",
                         " has strides");
  }
  return absl::OkStatus();
}

Status CheckChain(const Problem& p) {
  const Problem* before = &p;
  int number = 1;
  for (const Problem& stage : p.next) {
    ++number;
    if (IsGrad(p.op) || IsGrad(stage.op))
      return Invalid("stage ", number, ": chains are forward only");
    if (stage.dtype != p.dtype || stage.layout != p.layout || stage.dims != OutputDims(*before)) {
      return Invalid("stage ", number, ": dims ", PrintSizes(stage.dims), " are not the ",
                     PrintSizes(OutputDims(*before)), " of the stage before");
    }
    if (!stage.next.empty() || !stage.strides.empty() || stage.inplace || stage.align != 0) {
      return Invalid("stage ", number, ": has what only a whole chain has");
    }
    if (Status status = CheckStage(stage); !status.ok()) {
      return absl::Status(status.code(), absl::StrCat("stage ", number, ": ", status.message()));
    }
    before = &stage;
  }
  return absl::OkStatus();
}

}  // namespace

Status Validate(const Problem& p) {
  if (Status status = CheckStage(p); !status.ok()) return status;
  if (Status status = CheckStrides("strides", p.strides, p.dims, p.dtype); !status.ok())
    return status;
  if (!p.dy_strides.empty()) {
    if (!IsGrad(p.op)) return Invalid("dy_strides: ", ToString(p.op), " has no dy");
    if (Status status = CheckStrides("dy_strides", p.dy_strides, OutputDims(p), p.dtype);
        !status.ok()) {
      return status;
    }
  }
  if (p.align != 0) {
    if (Status status = CheckAlign(p); !status.ok()) return status;
  }
  if (!p.next.empty()) {
    if (Status status = CheckChain(p); !status.ok()) return status;
  }
  if (p.elements() == 0) {
    if (Status status = CheckTensors(p); !status.ok()) return status;
  }
  return p.inplace ? CheckInplace(p) : absl::OkStatus();
}

}  // namespace onepass
