#include "runtime/launch_arguments.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "codegen/traffic.h"

namespace onepass {
namespace {

void* At(const Buffers& buffers, Role role) { return reinterpret_cast<void*>(buffers[role]); }

double WeightOf(int64_t count) {
  return 1.0 /
         static_cast<double>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(count, 1))));
}

}  // namespace

onepass_kernel::Arguments ArgumentsOf(const Buffers& buffers, const Extents& extents,
                                      const Plan& plan, DeviceAddress workspace) {
  return {.x = At(buffers, Role::kX),
          .residual = At(buffers, Role::kResidual),
          .scale = At(buffers, Role::kScale),
          .bias = At(buffers, Role::kBias),
          .mean = At(buffers, Role::kMean),
          .var = At(buffers, Role::kVar),
          .running_mean = At(buffers, Role::kRunningMean),
          .running_var = At(buffers, Role::kRunningVar),
          .y = At(buffers, Role::kY),
          .saved_mean = At(buffers, Role::kSavedMean),
          .saved_invstd = At(buffers, Role::kSavedInvstd),
          .workspace = reinterpret_cast<void*>(workspace),
          .elements = extents.elements,
          .rows = extents.rows,
          .segments = extents.segments,
          .segment_stride = extents.segment_stride,
          .row_stride = extents.row_stride,
          .params_per_row = extents.params_per_row,
          .param_period = extents.param_period,
          .reduced = extents.reduced,
          .split = plan.split,
          .eps = extents.eps,
          .new_weight = extents.new_weight,
          .var_correction = extents.var_correction,
          .weight = WeightOf(extents.reduced),
          .takes_saved = TakesSaved(plan, extents)};
}

}  // namespace onepass
