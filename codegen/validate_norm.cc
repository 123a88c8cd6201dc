#include <cmath>
#include <string>

#include "codegen/number_text.h"
#include "codegen/operators.h"
#include "codegen/problem_words.h"
#include "codegen/validate_parts.h"

namespace onepass {

namespace {

using absl::Status;

Status CheckNormNumbers(const Problem& p) {
  if (!(p.eps >= 0) || std::isinf(p.eps)) {
    return Invalid("eps: ", PrintNumber(p.eps), " is not a finite number of at least 0");
  }
  if (!std::isfinite(p.momentum))
    return Invalid("momentum: ", PrintNumber(p.momentum), " is not finite");
  if (p.cumulative_batches < -1) {
    return Invalid("momentum: cumulative:", p.cumulative_batches, " is negative");
  }
  if (p.param != p.dtype && p.param != DefaultParam(p.dtype) && p.param != DType::kF32) {
    const std::string own = p.dtype == DType::kF32 ? "" : absl::StrCat(" or ", ToString(p.dtype));
    return Unimplemented("param: ", ToString(p.param), " parameters of ", ToString(p.dtype),
                         " tensors, which may have f32", own);
  }
  return absl::OkStatus();
}

// One value for each statistic leaves nothing to normalise, which is an error in the caller's
// model.
Status CheckValuesPerChannel(const Problem& p) {
  const bool instance = (BitOf(p.op) & kInstanceNorms) != 0;
  if (p.spatial() != 1 || (!instance && p.batch() != 1)) return absl::OkStatus();
  if (instance)
    return Invalid(ToString(p.op), ": x ", PrintSizes(p.dims), " has one value per instance");
  if (p.op != Op::kBatchNormTrain || p.running_var == RunningVar::kBiased) return absl::OkStatus();
  return Invalid("batch_norm.train: x ", PrintSizes(p.dims),
                 " has one value per channel, of which there is no unbiased running variance "
                 "(running_var=biased has one)");
}

}  // namespace

Status CheckNorm(const Problem& p) {
  if (Status status = CheckNormNumbers(p); !status.ok()) return status;
  const OpSet op = BitOf(p.op);
  if ((op & kGroupNorms) != 0) {
    if (p.groups == 0) return Invalid("groups: ", ToString(p.op), " needs it");
    if (p.groups < 0) return Invalid("groups: ", p.groups, " is less than 1");
    if (p.channels() % p.groups != 0) {
      return Invalid("groups: ", p.groups, " does not divide the ", p.channels(), " channels of x");
    }
  } else if (p.groups != 0) {
    return Invalid("groups: ", ToString(p.op), " does not take it");
  }
  if ((op & (kLayerNorms | kRmsNorms)) != 0 && (p.axes < 1 || p.axes > p.rank())) {
    return Invalid("axes: ", p.axes, " is not from 1 to ", p.rank(), ", the axes of x");
  }
  if ((op & kSampleNorms) == 0 && (p.skip || p.save)) {
    return Invalid(p.skip ? "skip" : "save", ": ", ToString(p.op), " does not take it");
  }
  if (p.stats == Stats::kFixed && p.recompute) {
    return Invalid("recompute: stats=fixed leaves nothing to recompute");
  }
  return CheckValuesPerChannel(p);
}

}  // namespace onepass
