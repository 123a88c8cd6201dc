#include "runtime/reference/check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/reference/element.h"
#include "runtime/reference/parallel.h"

namespace onepass {

namespace {

constexpr int64_t kPiece = 1024;
constexpr int64_t kChunk = 64 * kPiece;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The verdict on one element.
struct Verdict {
  double error;  // infinite where the classes differ
  double tolerance;
  double ulp;  // of the output type at the wanted value
};

// What was seen over a range of elements.
struct Seen {
  double max_error = 0;
  double max_ulps = 0;
  double worst_ratio = -1;
  double tolerance = 0;  // at the worst element
  double error = 0;      // there
  int64_t worst = 0;     // its position in memory
  int64_t mismatches = 0;

  void Add(const Verdict& verdict, int64_t position) {
    max_error = std::max(max_error, verdict.error);
    max_ulps = std::max(max_ulps, verdict.error == 0 ? 0 : verdict.error / verdict.ulp);
    // The tolerance may be infinite or NaN where what is wanted is.
    const bool good =
        verdict.error == 0 || (verdict.error <= verdict.tolerance && verdict.error < kInfinity);
    mismatches += !good;
    double ratio = verdict.error == 0 ? 0 : verdict.error / verdict.tolerance;
    if (!good && !(ratio > 1)) ratio = kInfinity;
    if (ratio > worst_ratio) {
      worst_ratio = ratio;
      tolerance = verdict.tolerance;
      error = verdict.error;
      worst = position;
    }
  }

  // `later` covers positions behind the ones seen here.
  void Merge(const Seen& later) {
    max_error = std::max(max_error, later.max_error);
    max_ulps = std::max(max_ulps, later.max_ulps);
    mismatches += later.mismatches;
    if (later.worst_ratio > worst_ratio) {
      worst_ratio = later.worst_ratio;
      tolerance = later.tolerance;
      error = later.error;
      worst = later.worst;
    }
  }
};

template <typename Real>
class Judge {
 public:
  Judge(const Problem& problem, DType output)
      : format_(FormatOf(output)),
        relative_(2 * format_.unit_roundoff),
        per_magnitude_(16 * FormatOf(AccumulationType(problem.dtype)).unit_roundoff),
        ulps_(IsPointwise(problem.op) ? UlpBound(problem.act, problem.dtype) + 0.5 : -1) {}

  Verdict operator()(Real want, Real got, double magnitude) const {
    const double size = std::fabs(static_cast<double>(want));
    const double ulp = UlpAt(size);
    const double tolerance =
        ulps_ >= 0 ? ulps_ * ulp
                   : relative_ * size + per_magnitude_ * magnitude + format_.least_subnormal / 2;
    const Real error = std::fabs(got - want);
    if (std::fabs(got) <= format_.largest && size < format_.overflow) [[likely]] {
      return {static_cast<double>(error), tolerance, ulp};
    }
    return {ClassError(want, got, error, tolerance), tolerance, ulp};
  }

 private:
  // The spacing of the type where `size`, rounded to it, lies.
  double UlpAt(double size) const {
    const double rounded = size * (1 + format_.unit_roundoff);
    const int exponent = static_cast<int>(std::bit_cast<uint64_t>(rounded) >> 52) - 1023;
    const int lowest = std::clamp(exponent, format_.least_exponent, 1023) - format_.precision + 1;
    if (lowest < -1022) return std::ldexp(1.0, lowest);  // f64 near its end
    return std::bit_cast<double>(static_cast<uint64_t>(lowest + 1023) << 52);
  }

  // Something is NaN, infinite, or beyond the largest.
  double ClassError(Real want, Real got, Real error, double tolerance) const {
    if (std::isnan(want) || std::isnan(got))
      return std::isnan(want) && std::isnan(got) ? 0 : kInfinity;
    if (want == got) return 0;
    if (std::isinf(want)) return kInfinity;
    if (!std::isinf(got)) return static_cast<double>(error);
    const bool may_round_up = std::fabs(want) + tolerance >= format_.overflow;
    return may_round_up && std::signbit(want) == std::signbit(got) ? 0 : kInfinity;
  }

  const FloatFormat& format_;
  double relative_, per_magnitude_, ulps_;
};

template <typename Real>
Seen CheckRange(const Problem& problem, const Reference& reference, const HostTensor& got,
                int64_t begin, int64_t end) {
  const Judge<Real> judge(problem, got.spec.dtype);
  long double want[kPiece];
  double magnitude[kPiece];
  Real values[kPiece];
  Seen seen;
  for (int64_t at = begin; at < end; at += kPiece) {
    const int64_t count = std::min(kPiece, end - at);
    reference.Evaluate(got.spec, at, llvm::MutableArrayRef(want, count),
                       llvm::MutableArrayRef(magnitude, count));
    LoadElements(got.spec.dtype, got.bytes.data(), at, 1, count, values);
    for (int64_t i = 0; i < count; ++i) {
      seen.Add(judge(static_cast<Real>(want[i]), values[i], magnitude[i]), at + i);
    }
  }
  return seen;
}

// The logical coordinates of an element of a dense tensor.
Dims IndexOf(const TensorSpec& spec, int64_t position) {
  Dims index(spec.dims.size(), 0);
  for (size_t axis = 0; axis < spec.dims.size(); ++axis) {
    if (spec.dims[axis] > 1) index[axis] = position / spec.strides[axis] % spec.dims[axis];
  }
  return index;
}

}  // namespace

OutputCheck CheckOutput(const Problem& problem, const Reference& reference, const HostTensor& got) {
  const bool saved = got.spec.role == Role::kSavedMean || got.spec.role == Role::kSavedInvstd;
  const int64_t elements = got.spec.elements();
  if (elements == 0 || (saved && problem.elements() == 0)) {
    OutputCheck nothing;
    nothing.max_abs_error = nothing.max_ulp_error = 0;
    return nothing;
  }
  const bool wide = got.spec.dtype == DType::kF64 || got.spec.dtype == DType::kI64;
  std::vector<Seen> parts((elements + kChunk - 1) / kChunk);
  ParallelFor(parts.size(), [&](int64_t i) {
    const int64_t begin = i * kChunk, end = std::min(elements, begin + kChunk);
    parts[i] = wide ? CheckRange<long double>(problem, reference, got, begin, end)
                    : CheckRange<double>(problem, reference, got, begin, end);
  });
  Seen all;
  for (const Seen& part : parts) all.Merge(part);

  OutputCheck check;
  check.ok = all.mismatches == 0;
  check.mismatches = all.mismatches;
  check.tolerance = std::isfinite(all.tolerance) ? all.tolerance : 0;
  check.worst_index = IndexOf(got.spec, all.worst);
  if (std::isfinite(all.error)) check.worst_error = all.error;
  if (std::isfinite(all.max_error)) check.max_abs_error = all.max_error;
  if (std::isfinite(all.max_ulps)) check.max_ulp_error = all.max_ulps;
  return check;
}

}  // namespace onepass
