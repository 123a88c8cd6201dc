#include "codegen/sectors.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace onepass {

namespace {

int64_t Count(const SectorAxis& axis) {
  return axis.positions.empty() ? axis.count : static_cast<int64_t>(axis.positions.size());
}

int64_t Position(const SectorAxis& axis, int64_t i) {
  return axis.positions.empty() ? i : axis.positions[i];
}

// The least distance, in bytes, between two positions.
int64_t Gap(const SectorAxis& axis) {
  if (axis.positions.empty()) return axis.stride;
  int64_t least = INT64_MAX;
  for (size_t i = 1; i < axis.positions.size(); ++i) {
    least = std::min(least, (axis.positions[i] - axis.positions[i - 1]) * axis.stride);
  }
  return least;
}

// Bytes from the first to the last element of the axis.
int64_t Reach(const SectorAxis& axis) {
  return (Position(axis, Count(axis) - 1) - Position(axis, 0)) * axis.stride;
}

// A set of sectors, relative to the sector that the set's base address lies in.
struct Cover {
  int64_t sectors = 0;
  int64_t first = 0;
  int64_t last = 0;
};

// Axes outermost first whose inner extents do not overlap, over runs of `run_bytes`.
class NestedCount {
 public:
  NestedCount(const llvm::SmallVectorImpl<SectorAxis>& axes, int64_t run_bytes)
      : axes_(axes), run_bytes_(run_bytes), memo_(axes.size()) {}

  // What the axes from `level` inwards touch when they begin `offset` bytes into a sector.
  Cover At(size_t level, int64_t offset) {
    if (level == axes_.size()) {
      const int64_t last = (offset + run_bytes_ - 1) / kSectorBytes;
      return {last + 1, 0, last};
    }
    std::optional<Cover>& known = memo_[level][offset];
    if (!known) known = Union(level, offset);
    return *known;
  }

 private:
  Cover Union(size_t level, int64_t offset) {
    Cover all;
    const SectorAxis& axis = axes_[level];
    for (int64_t i = 0; i < Count(axis); ++i) {
      const int64_t at = offset + Position(axis, i) * axis.stride;
      const int64_t base = at / kSectorBytes;
      Cover part = At(level + 1, at % kSectorBytes);
      part.first += base;
      part.last += base;
      if (i == 0) all.first = part.first;
      all.sectors += part.sectors - (i > 0 && part.first == all.last ? 1 : 0);
      all.last = part.last;
    }
    return all;
  }

  const llvm::SmallVectorImpl<SectorAxis>& axes_;
  int64_t run_bytes_;
  std::vector<std::array<std::optional<Cover>, kSectorBytes>> memo_;
};

// Marks sector after sector; for axes that interleave.
int64_t CountMarked(int64_t offset, const llvm::SmallVectorImpl<SectorAxis>& axes,
                    int64_t run_bytes) {
  int64_t end = offset + run_bytes;
  int64_t runs = 1;
  for (const SectorAxis& axis : axes) {
    end += Position(axis, Count(axis) - 1) * axis.stride;
    runs *= Count(axis);
  }
  const int64_t span = (end + kSectorBytes - 1) / kSectorBytes;
  if (span > (int64_t{1} << 33)) return std::min(span, runs * (run_bytes / kSectorBytes + 2));
  std::vector<bool> marked(span);
  for (int64_t run = 0; run < runs; ++run) {
    int64_t at = offset;
    int64_t rest = run;
    for (const SectorAxis& axis : axes) {
      at += Position(axis, rest % Count(axis)) * axis.stride;
      rest /= Count(axis);
    }
    for (int64_t s = at / kSectorBytes; s <= (at + run_bytes - 1) / kSectorBytes; ++s)
      marked[s] = true;
  }
  return std::count(marked.begin(), marked.end(), true);
}

// Folds inner axes into one run that touches every sector from its first to its last byte.
int64_t FoldRuns(int64_t element_bytes, llvm::SmallVectorImpl<SectorAxis>& axes) {
  int64_t run_bytes = element_bytes;
  while (!axes.empty()) {
    const SectorAxis& inner = axes.back();
    if (!inner.positions.empty() || inner.stride > std::max(run_bytes, kSectorBytes)) break;
    run_bytes += (inner.count - 1) * inner.stride;
    axes.pop_back();
  }
  return run_bytes;
}

bool AreNested(const llvm::SmallVectorImpl<SectorAxis>& axes, int64_t run_bytes) {
  int64_t extent = run_bytes;
  for (size_t i = axes.size(); i-- > 0;) {
    if (Gap(axes[i]) < extent) return false;
    extent += Reach(axes[i]);
  }
  return true;
}

}  // namespace

int64_t CountSectors(int64_t begin, int64_t element_bytes, llvm::SmallVector<SectorAxis, 5> axes) {
  llvm::SmallVector<SectorAxis, 5> moving;
  int64_t offset = begin % kSectorBytes;
  for (SectorAxis& axis : axes) {
    if (Count(axis) == 0) return 0;
    if (Count(axis) == 1 || axis.stride == 0) {
      offset += Position(axis, 0) * axis.stride;
    } else {
      moving.push_back(std::move(axis));
    }
  }
  offset %= kSectorBytes;
  std::stable_sort(moving.begin(), moving.end(),
                   [](const SectorAxis& a, const SectorAxis& b) { return a.stride > b.stride; });
  const int64_t run_bytes = FoldRuns(element_bytes, moving);
  if (!AreNested(moving, run_bytes)) return CountMarked(offset, moving, run_bytes);
  return NestedCount(moving, run_bytes).At(0, offset).sectors;
}

}  // namespace onepass
