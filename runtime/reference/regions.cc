#include "runtime/reference/regions.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "codegen/roles.h"
#include "runtime/reference/element.h"
#include "runtime/reference/parallel.h"

namespace onepass {

namespace {

bool IsReduced(const Problem& p, int axis) {
  switch (p.op) {
    case Op::kLayerNormFwd:
    case Op::kLayerNormGrad:
    case Op::kRmsNormFwd:
    case Op::kRmsNormGrad:
      return axis >= p.rank() - p.axes;
    case Op::kGroupNormFwd:
    case Op::kGroupNormGrad:
    case Op::kInstanceNormFwd:
    case Op::kInstanceNormGrad:
      return axis >= 2;
    default:
      return axis != 1;
  }
}

constexpr int64_t kLongestRun = 1024;
constexpr int64_t kChunk = 1 << 17;

// Sums by region over one chunk of the walk. What the sums are of is up to `Terms`, which turns the
// elements of a run into terms; the first argument is the region, the second its stride along the
// run.
template <typename Real, int kSums>
class ChunkSums {
 public:
  using Sums = std::array<Real, kSums>;

  ChunkSums(const Walk& walk, int64_t begin, int64_t count)
      : walk_(walk), begin_(begin), count_(count) {
    int64_t last = -1;
    first_ = INT64_MAX;
    walk.ForEachRun(begin, count, INT64_MAX, [&](const Walk::Run& run) {
      first_ = std::min(first_, run.offsets[1]);
      last = std::max(last, run.offsets[1] + (run.length - 1) * walk.step(1));
    });
    sums_.resize(last < 0 ? 0 : last - first_ + 1);
  }

  template <typename Terms>
  void Add(const uint8_t* data, DType dtype, Terms terms) {
    const int64_t region_step = walk_.step(1);
    walk_.ForEachRun(begin_, count_, kLongestRun, [&](const Walk::Run& run) {
      Real x[kLongestRun];
      LoadElements(dtype, data, run.offsets[0], walk_.step(0), run.length, x);
      Sums* to = &sums_[run.offsets[1] - first_];
      if (region_step == 0) {
        AddRun(x, run.length, run.offsets[1], terms, *to);
      } else {
        for (int64_t i = 0; i < run.length; ++i) {
          const Sums each = terms(x[i], run.offsets[1] + i * region_step);
          for (int s = 0; s < kSums; ++s) to[i * region_step][s] += each[s];
        }
      }
    });
  }

  template <typename Total>
  void MergeInto(std::vector<Total>& totals) const {
    for (size_t i = 0; i < sums_.size(); ++i) {
      for (int s = 0; s < kSums; ++s) totals[first_ + i][s] += sums_[i][s];
    }
  }

 private:
  // Eight lanes: short chains of additions round less and vectorise.
  template <typename Terms>
  static void AddRun(const Real* x, int64_t count, int64_t region, Terms terms, Sums& to) {
    constexpr int kLanes = 8;
    Real lanes[kSums][kLanes] = {};
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const Sums each = terms(x[i + lane], region);
        for (int s = 0; s < kSums; ++s) lanes[s][lane] += each[s];
      }
    }
    for (; i < count; ++i) {
      const Sums each = terms(x[i], region);
      for (int s = 0; s < kSums; ++s) lanes[s][0] += each[s];
    }
    for (int s = 0; s < kSums; ++s) {
      for (Real lane : lanes[s]) to[s] += lane;
    }
  }

  const Walk& walk_;
  int64_t begin_, count_;
  int64_t first_;
  std::vector<Sums> sums_;
};

// Sums of terms(x, region) by region. Chunks are merged in order, a batch of them at a time.
template <typename Real, int kSums, typename Terms>
std::vector<std::array<long double, kSums>> SumByRegion(const Walk& walk, int64_t regions,
                                                        const uint8_t* data, DType dtype,
                                                        Terms terms) {
  constexpr int64_t kBatch = 64;
  std::vector<std::array<long double, kSums>> totals(regions);
  // Where a chunk meets very many regions, chunks grow with them.
  const int64_t chunk = std::max(kChunk, std::min(regions, walk.elements() / 8));
  const int64_t chunks = (walk.elements() + chunk - 1) / chunk;
  for (int64_t batch = 0; batch < chunks; batch += kBatch) {
    const int64_t here = std::min(kBatch, chunks - batch);
    std::vector<ChunkSums<Real, kSums>> parts;
    parts.reserve(here);
    for (int64_t i = 0; i < here; ++i) {
      const int64_t begin = (batch + i) * chunk;
      parts.emplace_back(walk, begin, std::min(chunk, walk.elements() - begin));
    }
    ParallelFor(here, [&](int64_t i) { parts[i].Add(data, dtype, terms); });
    for (const auto& part : parts) part.MergeInto(totals);
  }
  return totals;
}

template <typename Real>
std::vector<Moments> MomentsAs(const Problem& norm, const Regions& regions, const uint8_t* x) {
  const Walk walk(regions.sizes, {regions.x, regions.region});
  std::vector<Moments> moments(regions.count);
  if (regions.size == 0) return moments;
  const long double n = regions.size;
  const auto sums = SumByRegion<Real, 3>(walk, regions.count, x, norm.dtype, [](Real v, int64_t) {
    return std::array<Real, 3>{v, std::fabs(v), v * v};
  });
  std::vector<Real> means(regions.count);
  for (int64_t r = 0; r < regions.count; ++r) {
    moments[r].mean = sums[r][0] / n;
    moments[r].mean_abs = sums[r][1] / n;
    moments[r].mean_square = sums[r][2] / n;
    means[r] = static_cast<Real>(moments[r].mean);
  }
  const auto squares =
      SumByRegion<Real, 2>(walk, regions.count, x, norm.dtype, [&](Real v, int64_t region) {
        const Real d = v - means[region];
        return std::array<Real, 2>{d, d * d};
      });
  for (int64_t r = 0; r < regions.count; ++r) {
    const long double d = squares[r][0], d2 = squares[r][1];
    moments[r].mean += std::isfinite(d) ? d / n : 0;
    moments[r].variance = (d2 - d * d / n) / n;
    if (moments[r].variance < 0) moments[r].variance = 0;
  }
  return moments;
}

}  // namespace

Walk::Sizes InView(const Problem& p, llvm::ArrayRef<int64_t> strides) {
  Walk::Sizes view;
  for (int axis = 0; axis < p.rank(); ++axis) {
    if (axis == 1 && p.groups > 0) view.push_back(strides[1] * (p.dims[1] / p.groups));
    view.push_back(strides[axis]);
  }
  return view;
}

Regions RegionsOf(const Problem& p) {
  const Dims x = p.strides.empty() ? DenseStrides(p.dims, p.layout) : p.strides;
  const Dims logical = DenseStrides(p.dims, Layout::kChannelsFirst);
  Regions regions;
  regions.x = InView(p, x);
  regions.logical = InView(p, logical);
  llvm::SmallVector<bool, 6> reduced;
  const auto add = [&](int64_t size, bool is_reduced) {
    regions.sizes.push_back(size);
    reduced.push_back(is_reduced);
  };
  for (int axis = 0; axis < p.rank(); ++axis) {
    if (axis == 1 && p.groups > 0) {
      add(p.groups, false);
      add(p.dims[1] / p.groups, true);
    } else {
      add(p.dims[axis], IsReduced(p, axis));
    }
  }
  regions.region.assign(regions.sizes.size(), 0);
  regions.within.assign(regions.sizes.size(), 0);
  for (size_t axis = regions.sizes.size(); axis-- > 0;) {
    int64_t& step = reduced[axis] ? regions.size : regions.count;
    (reduced[axis] ? regions.within : regions.region)[axis] = step;
    step *= regions.sizes[axis];
  }
  return regions;
}

std::vector<Moments> MomentsOf(const Problem& norm, const Regions& regions, const uint8_t* x) {
  return norm.dtype == DType::kF64 ? MomentsAs<long double>(norm, regions, x)
                                   : MomentsAs<double>(norm, regions, x);
}

}  // namespace onepass
