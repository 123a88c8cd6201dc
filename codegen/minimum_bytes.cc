#include <algorithm>
#include <optional>
#include <vector>

#include "codegen/operators.h"
#include "codegen/roles.h"
#include "codegen/sectors.h"

namespace onepass {

namespace {

// Which positions of an axis matter; nothing: all.
using Needed = std::optional<std::vector<int64_t>>;
// By axis of a stage's x.
using NeededAxes = std::vector<Needed>;

// The positions that the windows of the needed outputs reach, and the outputs whose window reaches
// any.
struct Reached {
  std::vector<int64_t> inputs;
  std::vector<int64_t> outputs;
};

Reached ReachOf(int64_t size, const PoolWindow& window, int axis, const Needed& wanted) {
  Reached reached;
  std::vector<bool> input_seen(size);
  const int64_t outputs = PoolOutputSize(size, window, axis);
  const int64_t dilation = window.dilation[axis];
  size_t next = 0;
  for (int64_t o = 0; o < outputs; ++o) {
    if (wanted) {
      if (next == wanted->size() || (*wanted)[next] != o) continue;
      ++next;
    }
    const int64_t begin = o * window.stride[axis] - window.pad_begin[axis];
    const int64_t first_tap = begin >= 0 ? 0 : (-begin + dilation - 1) / dilation;
    bool any = false;
    for (int64_t tap = first_tap; tap < window.size[axis]; ++tap) {
      const int64_t at = begin + tap * dilation;
      if (at >= size) break;
      input_seen[at] = true;
      any = true;
    }
    if (any) reached.outputs.push_back(o);
  }
  for (int64_t at = 0; at < size; ++at) {
    if (input_seen[at]) reached.inputs.push_back(at);
  }
  return reached;
}

// What stage needs of its x so that the `wanted` part of its y is right.
NeededAxes InputsNeeded(const Problem& stage, const NeededAxes& wanted) {
  NeededAxes needed(stage.dims.size());
  const bool elementwise =
      stage.op == Op::kBatchNormInfer || (stage.op == Op::kPointwiseFwd && stage.operands.empty());
  if (elementwise) return wanted;
  if (!IsPool(stage.op)) return needed;
  for (size_t axis = 2; axis < stage.dims.size(); ++axis) {
    Reached reached =
        ReachOf(stage.dims[axis], stage.window, static_cast<int>(axis) - 2, wanted[axis]);
    if (static_cast<int64_t>(reached.inputs.size()) < stage.dims[axis]) {
      needed[axis] = std::move(reached.inputs);
    }
  }
  return needed;
}

// What a pool's gradient needs of dy and the indices: windows wholly in padding contribute nothing.
NeededAxes WindowsNeeded(const Problem& p) {
  NeededAxes needed(p.dims.size());
  for (size_t axis = 2; axis < p.dims.size(); ++axis) {
    Reached reached = ReachOf(p.dims[axis], p.window, static_cast<int>(axis) - 2, std::nullopt);
    needed[axis] = std::move(reached.outputs);
  }
  return needed;
}

int64_t SectorsOf(const Problem& whole, const TensorSpec& spec, const NeededAxes* needed) {
  const int64_t element = SizeOf(spec.dtype);
  llvm::SmallVector<SectorAxis, 5> axes;
  for (size_t axis = 0; axis < spec.dims.size(); ++axis) {
    SectorAxis each{spec.strides[axis] * element, spec.dims[axis], {}};
    if (needed != nullptr && (*needed)[axis]) {
      each.positions = *(*needed)[axis];
      each.count = static_cast<int64_t>(each.positions.size());
    }
    axes.push_back(std::move(each));
  }
  return CountSectors(OffsetOf(whole, spec.dtype), element, std::move(axes));
}

bool HasXDims(Role role) {
  return role == Role::kX || role == Role::kResidual || role == Role::kSkip;
}

bool HasWindowDims(Role role) { return role == Role::kDy || role == Role::kIndices; }

}  // namespace

int64_t OffsetOf(const Problem& problem, DType dtype) {
  return problem.align == 0 ? 0 : std::max<int64_t>(problem.align, SizeOf(dtype));
}

int64_t MinimumBytes(const Problem& problem) {
  // needed[k]: of the x of stage k; stages after a pool are never wanted in part.
  const int stages = static_cast<int>(problem.next.size()) + 1;
  const auto stage = [&](int k) -> const Problem& {
    return k == 0 ? problem : problem.next[k - 1];
  };
  std::vector<NeededAxes> needed(stages);
  NeededAxes wanted(OutputDims(stage(stages - 1)).size());
  for (int k = stages - 1; k >= 0; --k) needed[k] = wanted = InputsNeeded(stage(k), wanted);
  NeededAxes windows;
  if (IsPool(problem.op) && IsGrad(problem.op)) windows = WindowsNeeded(problem);

  int64_t sectors = 0;
  for (const TensorSpec& spec : TensorsOf(problem)) {
    const NeededAxes* part = nullptr;
    if (!spec.output && HasXDims(spec.role)) part = &needed[spec.stage];
    if (!spec.output && HasWindowDims(spec.role) && !windows.empty()) part = &windows;
    sectors += SectorsOf(problem, spec, part);
  }
  return sectors * kSectorBytes;
}

}  // namespace onepass
