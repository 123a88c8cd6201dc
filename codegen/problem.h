// Problem: what a user asks for, in one value with one spelling.
//
//     batch_norm.train f16 32x64x56x56:nhwc residual act=relu
//
// Parse and ToString round-trip through the canonical form: flags and keys in a fixed order,
// defaults omitted, shortest round-trip numbers, sugar expanded ("relu.fwd" is "pointwise.fwd
// act=relu"). Parse checks the grammar; Validate (validate.h) checks that the values make sense
// together. Past Validate nothing in codegen can fail.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "codegen/activation.h"
#include "codegen/dtype.h"
#include "codegen/expression.h"
#include "llvm/ADT/SmallVector.h"

namespace onepass {

enum class Op : uint8_t {
  kBatchNormInfer,
  kBatchNormTrain,
  kBatchNormGrad,
  kLayerNormFwd,
  kLayerNormGrad,
  kRmsNormFwd,
  kRmsNormGrad,
  kGroupNormFwd,
  kGroupNormGrad,
  kInstanceNormFwd,
  kInstanceNormGrad,
  kPointwiseFwd,
  kPointwiseGrad,
  kMaxPoolFwd,
  kMaxPoolGrad,
  kAvgPoolFwd,
  kAvgPoolGrad,
  kLpPoolFwd,
  kLpPoolGrad,
};

// "batch_norm.train" and so on.
absl::string_view ToString(Op op);
bool IsNorm(Op op);
bool IsBatchNorm(Op op);
bool IsPointwise(Op op);
bool IsPool(Op op);
bool IsGrad(Op op);

// Sizes or strides, N, C, spatial...; a strides vector may be empty, meaning "dense in the layout".
using Dims = llvm::SmallVector<int64_t, 5>;

enum class Affine : uint8_t { kBoth, kScale, kBias, kNone };
enum class RunningVar : uint8_t { kUnbiased, kBiased };
enum class Stats : uint8_t { kBatch, kFixed };

// A further input of a pointwise problem, "a=1x64x1x1".
struct Operand {
  char name = 'a';  // 'a', 'b' or 'c'
  Dims dims;
  bool operator==(const Operand&) const = default;
};

// Window of a pool; every vector has one entry a spatial axis.
struct PoolWindow {
  Dims size;
  Dims stride;
  Dims pad_begin;
  Dims pad_end;
  Dims dilation;
  bool ceil = false;
  bool include_padding = true;
  int64_t divisor = 0;  // 0: none given
  double p = 2.0;
  bool indices = false;
  bool operator==(const PoolWindow&) const = default;
};

struct Problem {
  Op op = Op::kPointwiseFwd;
  DType dtype = DType::kF32;
  Dims dims;  // of x, N, C, spatial...
  Layout layout = Layout::kChannelsFirst;
  Dims strides;     // of x in elements; empty: dense in `layout`
  Dims dy_strides;  // of dy in elements; empty: dense in `layout`

  // Norms.
  DType param = DType::kF32;  // scale, bias, running statistics
  double eps = 1e-5;
  double momentum = 0.1;            // weight of the NEW value
  int64_t cumulative_batches = -1;  // momentum=cumulative:T; -1: momentum is used
  RunningVar running_var = RunningVar::kUnbiased;
  Affine affine = Affine::kBoth;
  int64_t groups = 0;  // group_norm only
  int axes = 1;        // layer_norm and rms_norm: the last K axes
  Stats stats = Stats::kBatch;
  bool recompute = false;
  bool save = false;
  bool residual = false;
  bool skip = false;
  bool batch_invariant = false;

  // Norms and pointwise. Pointwise has either an activation or an expression.
  Activation act;
  std::shared_ptr<const Expression> expr;
  llvm::SmallVector<Operand, 0> operands;

  PoolWindow window;  // pools

  bool inplace = false;
  // Tensors lie at addresses that are `align` modulo 2*align; 0: as allocated. A tensor whose
  // elements are larger than `align` (f32 parameters of an f16 problem) lies at its element size
  // instead.
  int64_t align = 0;

  // The stages after '|'. Only the first stage spells dtype, dims and layout; the parser gives
  // every later stage the dtype and layout of the first and the output dims of the stage before it.
  std::vector<Problem> next;

  bool has_scale() const { return affine == Affine::kBoth || affine == Affine::kScale; }
  bool has_bias() const { return affine == Affine::kBoth || affine == Affine::kBias; }
  int rank() const { return static_cast<int>(dims.size()); }
  int64_t batch() const { return dims.empty() ? 1 : dims[0]; }
  int64_t channels() const { return dims.size() < 2 ? 1 : dims[1]; }
  int64_t spatial() const;   // product of the axes after the channel, 1 if none
  int64_t elements() const;  // product of all axes
  // The weight of the new value in the running statistics: momentum, or 1/(T+1).
  double new_weight() const {
    return cumulative_batches < 0 ? momentum : 1.0 / static_cast<double>(cumulative_batches + 1);
  }

  bool operator==(const Problem& other) const;
};

// Dense strides, in elements, of a tensor with these logical dims stored in this layout.
Dims DenseStrides(const Dims& dims, Layout layout);

// The product; 0 where one of them is, and INT64_MAX where it does not fit.
int64_t ElementsOf(llvm::ArrayRef<int64_t> sizes);

// Dims of y (and of dy) of this stage: the broadcast of x and all operands, x pooled, or x. Empty
// where the sizes do not fit each other, which Validate refuses.
Dims OutputDims(const Problem& problem);

// Windows along one spatial axis by PyTorch's rule: with `ceil`, a last window that would begin
// beyond the input and its begin padding is dropped. 0 where no window fits.
int64_t PoolOutputSize(int64_t input, const PoolWindow& window, int axis);

// Errors are kInvalidArgument and name the word that was not understood.
absl::StatusOr<Problem> ParseProblem(absl::string_view line);

// Canonical form.
std::string ToString(const Problem& problem);

}  // namespace onepass
