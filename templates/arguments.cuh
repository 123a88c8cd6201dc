// The one parameter block of every kernel. Host code includes this file too, so both sides agree by
// construction. Pointers are null where the problem has no such tensor.
#pragma once

namespace onepass_kernel {

struct Arguments {
  // Every workspace begins with this many bytes of barrier words, which are zero between launches;
  // what a launch leaves for another block or kernel lies behind them. So one workspace serves all
  // kernels, one launch after another.
  static constexpr long long kBarrierBytes = 4096;

  const void* x;
  const void* residual;
  const void* scale;
  const void* bias;
  const void* mean;    // batch_norm.infer
  const void* var;     // batch_norm.infer
  void* running_mean;  // updated in place
  void* running_var;   // updated in place
  void* y;
  void* saved_mean;
  void* saved_invstd;
  void* workspace;
  long long elements;
  long long rows;
  long long segments;
  long long segment_stride;  // elements
  long long row_stride;      // elements
  long long params_per_row;  // row r begins at parameter r * params_per_row % param_period
  long long param_period;
  long long reduced;  // values a reduction sees
  long long split;    // blocks that share one reduction
  double eps;
  double new_weight;
  double var_correction;
  double weight;  // of a value in a sum that cannot overflow: a power of two, at most 1 / reduced
  bool takes_saved;  // the second pass of multi_pass takes the saved statistics: no workspace
};

}  // namespace onepass_kernel
