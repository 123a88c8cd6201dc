// The operators as sets: one bit an Op, and the names.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "codegen/problem.h"

namespace onepass {

inline constexpr absl::string_view kOperatorNames[] = {
    "batch_norm.infer", "batch_norm.train",  "batch_norm.grad",    "layer_norm.fwd",
    "layer_norm.grad",  "rms_norm.fwd",      "rms_norm.grad",      "group_norm.fwd",
    "group_norm.grad",  "instance_norm.fwd", "instance_norm.grad", "pointwise.fwd",
    "pointwise.grad",   "max_pool.fwd",      "max_pool.grad",      "avg_pool.fwd",
    "avg_pool.grad",    "lp_pool.fwd",       "lp_pool.grad",
};
inline constexpr int kOperatorCount = sizeof(kOperatorNames) / sizeof(kOperatorNames[0]);
static_assert(kOperatorCount == static_cast<int>(Op::kLpPoolGrad) + 1);

using OpSet = uint32_t;
constexpr OpSet BitOf(Op op) { return OpSet{1} << static_cast<int>(op); }

inline constexpr OpSet kBatchNorms =
    BitOf(Op::kBatchNormInfer) | BitOf(Op::kBatchNormTrain) | BitOf(Op::kBatchNormGrad);
inline constexpr OpSet kLayerNorms = BitOf(Op::kLayerNormFwd) | BitOf(Op::kLayerNormGrad);
inline constexpr OpSet kRmsNorms = BitOf(Op::kRmsNormFwd) | BitOf(Op::kRmsNormGrad);
constexpr bool IsRmsNorm(Op op) { return (BitOf(op) & kRmsNorms) != 0; }
inline constexpr OpSet kGroupNorms = BitOf(Op::kGroupNormFwd) | BitOf(Op::kGroupNormGrad);
inline constexpr OpSet kInstanceNorms = BitOf(Op::kInstanceNormFwd) | BitOf(Op::kInstanceNormGrad);
// Norms whose statistics belong to one sample: rows, groups, instances.
inline constexpr OpSet kSampleNorms = kLayerNorms | kRmsNorms | kGroupNorms | kInstanceNorms;
inline constexpr OpSet kNorms = kBatchNorms | kSampleNorms;
inline constexpr OpSet kPointwise = BitOf(Op::kPointwiseFwd) | BitOf(Op::kPointwiseGrad);
inline constexpr OpSet kMaxPools = BitOf(Op::kMaxPoolFwd) | BitOf(Op::kMaxPoolGrad);
inline constexpr OpSet kAvgPools = BitOf(Op::kAvgPoolFwd) | BitOf(Op::kAvgPoolGrad);
inline constexpr OpSet kLpPools = BitOf(Op::kLpPoolFwd) | BitOf(Op::kLpPoolGrad);
inline constexpr OpSet kPools = kMaxPools | kAvgPools | kLpPools;
inline constexpr OpSet kAll = kNorms | kPointwise | kPools;
inline constexpr OpSet kGrads =
    BitOf(Op::kBatchNormGrad) | BitOf(Op::kLayerNormGrad) | BitOf(Op::kRmsNormGrad) |
    BitOf(Op::kGroupNormGrad) | BitOf(Op::kInstanceNormGrad) | BitOf(Op::kPointwiseGrad) |
    BitOf(Op::kMaxPoolGrad) | BitOf(Op::kAvgPoolGrad) | BitOf(Op::kLpPoolGrad);
inline constexpr OpSet kForwards = kAll & ~kGrads;

// Forward norms that take the moments of x.
inline constexpr OpSet kMeasuringNorms = BitOf(Op::kBatchNormTrain) | (kSampleNorms & kForwards);

}  // namespace onepass
