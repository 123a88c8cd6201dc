#include "runtime/reference/generate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "runtime/reference/derived_inputs.h"
#include "runtime/reference/element.h"
#include "runtime/reference/parallel.h"
#include "runtime/reference/random.h"
#include "runtime/reference/regions.h"
#include "runtime/reference/walk.h"

namespace onepass {

namespace {

constexpr int64_t kLongestRun = 1024;
constexpr int64_t kChunk = 1 << 18;

// Elements of a run of a tensor: their logical positions, and in x of a norm their regions.
struct RunOfValues {
  int64_t logical, logical_step;
  int64_t region, region_step;
  int64_t within, within_step;
  int64_t length;
};

// Fills the values of one tensor.
class Source {
 public:
  Source(const DataSpec& data, uint64_t key, DType dtype) : data_(data), key_(key), dtype_(dtype) {}
  virtual ~Source() = default;
  virtual void Fill(const RunOfValues& run, double* out) const {
    switch (data_.kind) {
      case DataSpec::Kind::kNormal:
        return Normal(run, data_.a, data_.b, out);
      case DataSpec::Kind::kUniform:
        return Uniform(run, data_.a, data_.b, out);
      case DataSpec::Kind::kConstant:
        return std::fill_n(out, run.length, data_.a), void();
      case DataSpec::Kind::kSpecial:
        return Special(run, out);
    }
  }

 protected:
  void Normal(const RunOfValues& run, double mean, double std, double* out) const {
    DrawNormal(key_, run.logical, run.logical_step, run.length, out);
    for (int64_t i = 0; i < run.length; ++i) out[i] = mean + std * out[i];
  }

  void Uniform(const RunOfValues& run, double low, double high, double* out) const {
    DrawUniform(key_, run.logical, run.logical_step, run.length, out);
    for (int64_t i = 0; i < run.length; ++i) out[i] = low + (high - low) * out[i];
  }

  void Special(const RunOfValues& run, double* out) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const FloatFormat& format = FormatOf(dtype_);
    const double cycle[] = {0.0,
                            -0.0,
                            format.least_subnormal,
                            format.least_normal,
                            1,
                            -1,
                            format.largest,
                            -format.largest,
                            kInfinity,
                            -kInfinity,
                            std::numeric_limits<double>::quiet_NaN()};
    constexpr int64_t kCycle = sizeof(cycle) / sizeof(cycle[0]);
    for (int64_t i = 0; i < run.length; ++i)
      out[i] = cycle[(run.logical + i * run.logical_step) % kCycle];
  }

  const DataSpec data_;
  const uint64_t key_;
  const DType dtype_;
};

// x of a norm under `special`.
class SpecialRegions : public Source {
 public:
  SpecialRegions(uint64_t key, DType dtype, int64_t region_size)
      : Source({DataSpec::Kind::kNormal, 0, 1}, key, dtype), middle_(region_size / 2) {
    quarter_ = FormatOf(dtype).largest / 4;
    const FloatFormat& accumulation = FormatOf(AccumulationType(dtype));
    alternates_ = quarter_ < std::sqrt(accumulation.largest) / 4;
  }

  void Fill(const RunOfValues& run, double* out) const override {
    Source::Fill(run, out);
    for (int64_t i = 0; i < run.length; ++i) {
      const int64_t region = run.region + i * run.region_step;
      if (region > 3) continue;
      const int64_t within = run.within + i * run.within_step;
      if (region == 0 && within == middle_) out[i] = std::numeric_limits<double>::quiet_NaN();
      if (region == 1 && within == middle_) out[i] = std::numeric_limits<double>::infinity();
      if (region == 2) out[i] = 100;
      if (region == 3) out[i] = alternates_ && within % 2 == 1 ? -quarter_ : quarter_;
    }
  }

 private:
  int64_t middle_;
  double quarter_;
  bool alternates_;
};

class UniformSource : public Source {
 public:
  UniformSource(double low, double high, uint64_t key, DType dtype)
      : Source({DataSpec::Kind::kUniform, low, high}, key, dtype) {}
};

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
void FillTensor(const Source& source, const Regions& view, HostTensor& tensor) {
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

std::unique_ptr<Source> SourceOf(const Problem& problem, const TensorSpec& spec,
                                 const DataSpec& data, uint64_t key) {
  const bool normal = data.kind == DataSpec::Kind::kNormal;
  const double mean = normal ? data.a : 0, std = normal ? data.b : 1;
  const bool special = data.kind == DataSpec::Kind::kSpecial;
  switch (spec.role) {
    case Role::kScale:
      return std::make_unique<UniformSource>(0.5, 1.5, key, spec.dtype);
    case Role::kBias:
      return std::make_unique<UniformSource>(-0.5, 0.5, key, spec.dtype);
    case Role::kMean:
    case Role::kRunningMean:
      return std::make_unique<Source>(DataSpec{DataSpec::Kind::kNormal, mean, std / 2}, key,
                                      spec.dtype);
    case Role::kVar:
    case Role::kRunningVar:
      return std::make_unique<UniformSource>(0.5 * std * std, 2 * std * std, key, spec.dtype);
    case Role::kX:
      if (special && IsNorm(problem.op)) {
        return std::make_unique<SpecialRegions>(key, spec.dtype, RegionsOf(problem).size);
      }
      break;
    default:
      if (special && IsNorm(problem.op)) {
        return std::make_unique<Source>(DataSpec(), key, spec.dtype);
      }
      break;
  }
  return std::make_unique<Source>(data, key, spec.dtype);
}

HostTensor Generate(const Problem& problem, const TensorSpec& spec, const DataSpec& data,
                    uint64_t seed) {
  HostTensor tensor{spec, {}};
  const int64_t bytes = spec.span_elements() * SizeOf(spec.dtype);
  tensor.bytes.assign(bytes, spec.elements() == spec.span_elements() ? 0 : 0xff);
  const uint64_t stream =
      static_cast<uint64_t>(spec.stage) * kRoleCount + static_cast<int>(spec.role);
  const std::unique_ptr<Source> source = SourceOf(problem, spec, data, StreamKey(seed, stream));
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
