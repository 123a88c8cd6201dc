#include "runtime/reference/generate.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/reference/derived_inputs.h"
#include "runtime/reference/element.h"
#include "runtime/reference/parallel.h"
#include "runtime/reference/random.h"
#include "runtime/reference/regions.h"
#include "runtime/reference/value_source.h"
#include "runtime/reference/walk.h"

namespace onepass {

namespace {

constexpr int64_t kLongestRun = 1024;
constexpr int64_t kChunk = 1 << 18;

// Whether no two elements share memory, as far as nested strides show it.
bool IsInjective(const TensorSpec& spec) {
  llvm::SmallVector<std::pair<int64_t, int64_t>, 5> axes;  // stride, size
  for (size_t axis = 0; axis < spec.dims.size(); ++axis) {
    if (spec.dims[axis] > 1) axes.push_back({spec.strides[axis], spec.dims[axis]});
  }
  std::sort(axes.begin(), axes.end());
  int64_t extent = 1;
  for (const auto& [stride, size] : axes) {
    if (stride < extent) return false;
    extent += (size - 1) * stride;
  }
  return true;
}

// Writes every element of the tensor from the source.
void FillTensor(const ValueSource& source, const Regions& view, HostTensor& tensor) {
  const DType dtype = tensor.spec.dtype;
  const auto fill = [&](const Walk& walk, int memory, int64_t begin, int64_t count) {
    // Tensors of the walk: memory and logical position in either order, region, place within.
    const int logical = 1 - memory;
    walk.ForEachRun(begin, count, kLongestRun, [&](const Walk::Run& run) {
      double values[kLongestRun];
      source.Fill({run.offsets[logical], walk.step(logical), run.offsets[2], walk.step(2),
                   run.offsets[3], walk.step(3), run.length},
                  values);
      StoreElements(dtype, values, run.length, run.offsets[memory], walk.step(memory),
                    tensor.bytes.data());
    });
  };
  if (!IsInjective(tensor.spec)) {
    const Walk walk(view.sizes, {view.logical, view.x, view.region, view.within});
    return fill(walk, 1, 0, walk.elements());
  }
  const Walk walk(view.sizes, {view.x, view.logical, view.region, view.within});
  ParallelFor((walk.elements() + kChunk - 1) / kChunk, [&](int64_t i) {
    fill(walk, 0, i * kChunk, std::min(kChunk, walk.elements() - i * kChunk));
  });
}

// The tensor as one region.
Regions PlainView(const TensorSpec& spec) {
  const auto sizes = [](const Dims& dims) { return Walk::Sizes(dims.begin(), dims.end()); };
  Regions view;
  view.sizes = sizes(spec.dims);
  view.x = sizes(spec.strides);
  view.logical = sizes(DenseStrides(spec.dims, Layout::kChannelsFirst));
  view.region = view.within = Walk::Sizes(spec.dims.size(), 0);
  return view;
}

HostTensor Generate(const Problem& problem, const TensorSpec& spec, const DataSpec& data,
                    uint64_t seed) {
  HostTensor tensor{spec, {}};
  const int64_t bytes = spec.span_elements() * SizeOf(spec.dtype);
  tensor.bytes.assign(bytes, spec.elements() == spec.span_elements() ? 0 : 0xff);
  const uint64_t stream =
      static_cast<uint64_t>(spec.stage) * kRoleCount + static_cast<int>(spec.role);
  const std::unique_ptr<ValueSource> source =
      SourceOf(problem, spec, data, StreamKey(seed, stream));
  const bool regions = spec.role == Role::kX && IsNorm(problem.op);
  FillTensor(*source, regions ? RegionsOf(problem) : PlainView(spec), tensor);
  return tensor;
}

bool IsDerived(Role role) {
  return role == Role::kSavedMean || role == Role::kSavedInvstd || role == Role::kIndices;
}

}  // namespace

std::vector<HostTensor> GenerateInputs(const Problem& problem, const DataSpec& data, uint64_t seed,
                                       std::vector<HostTensor> given) {
  const llvm::SmallVector<TensorSpec, 8> specs = TensorsOf(problem);
  std::vector<HostTensor> inputs;
  inputs.reserve(specs.size());  // growing would copy: a TensorSpec's move may throw
  std::vector<size_t> derived;
  for (const TensorSpec& spec : specs) {
    if (spec.output) continue;
    const auto same = [&](const HostTensor& tensor) {
      return tensor.spec.role == spec.role && tensor.spec.stage == spec.stage;
    };
    const auto found = std::find_if(given.begin(), given.end(), same);
    if (found != given.end()) {
      inputs.push_back(std::move(*found));
    } else if (IsDerived(spec.role)) {
      derived.push_back(inputs.size());
      inputs.push_back({spec, {}});
    } else {
      inputs.push_back(Generate(problem, spec, data, seed));
    }
  }
  if (derived.empty()) return inputs;
  // The gradient of a max pool with indices does not read x, but its indices come from one.
  std::optional<HostTensor> unread_x;
  const HostTensor* x = &inputs[0];
  if (x->spec.role != Role::kX) {
    x = &unread_x.emplace(Generate(problem, SpecOfX(problem), data, seed));
  }
  for (size_t i : derived) inputs[i] = DeriveInput(problem, inputs[i].spec, *x);
  return inputs;
}

}  // namespace onepass
