#include "runtime/reference/value_source.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/reference/element.h"
#include "runtime/reference/random.h"
#include "runtime/reference/regions.h"

namespace onepass {

namespace {

class Source : public ValueSource {
 public:
  Source(const DataSpec& data, uint64_t key, DType dtype) : data_(data), key_(key), dtype_(dtype) {}
  void Fill(const RunOfValues& run, double* out) const override {
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

}  // namespace

std::unique_ptr<ValueSource> SourceOf(const Problem& problem, const TensorSpec& spec,
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

}  // namespace onepass
