#include "codegen/key.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace onepass {
namespace {

constexpr int kMaxAccess = 16;
constexpr int64_t kMany = 8192;

// The largest power of two, at most kMaxAccess, that divides `bytes`.
int AccessThatDivides(int64_t bytes) {
  if (bytes == 0) return kMaxAccess;
  return static_cast<int>(std::min<uint64_t>(
      kMaxAccess, uint64_t{1} << std::countr_zero(static_cast<uint64_t>(bytes))));
}

// The shape of a batch normalisation over N, C, spatial as one of the geometries.
struct BatchNormShape {
  Geometry geometry;
  int64_t inner;
  int64_t rows;
  int64_t segments;
  int64_t segment_stride;
};

BatchNormShape ShapeOf(const Problem& p) {
  const int64_t n = p.batch(), c = p.channels(), s = p.spatial();
  if (c == 1) {
    const int64_t run = AccessThatDivides(n * s * SizeOf(p.dtype)) / SizeOf(p.dtype);
    const int64_t inner = std::max<int64_t>(run, 1);
    return {Geometry::kRow, inner, 1, n * s / inner, inner};
  }
  if (s == 1 || p.layout == Layout::kChannelsLast) return {Geometry::kColumn, c, n * s, 0, 0};
  return {Geometry::kRow, s, c, n, c * s};
}

void SetInferShape(const Problem& p, Key& key) {
  key.geometry = Geometry::kFlat;
  key.channels = p.channels();
  const bool last = p.layout == Layout::kChannelsLast;
  key.inner = key.channels == 1 ? ShapeOf(p).inner : last ? 1 : p.spatial();
}

void SetTrainShape(const Problem& p, Key& key) {
  const BatchNormShape shape = ShapeOf(p);
  key.geometry = shape.geometry;
  key.inner = shape.inner;
  const int64_t rows = p.batch_invariant ? kMany : shape.rows;
  key.row_class = shape.geometry == Geometry::kRow ? CoarseClass(rows) : 0;
  key.reduce_class = SizeClass(shape.geometry == Geometry::kRow ? shape.segments : shape.rows);
}

// Bytes whose divisors limit an access: contiguous runs begin at multiples of this.
int64_t RunBytes(const Key& key) {
  const int64_t run = key.geometry == Geometry::kFlat && key.inner == 1 ? key.channels : key.inner;
  return run * key.element_bytes();
}

}  // namespace

absl::string_view ToString(Geometry geometry) {
  switch (geometry) {
    case Geometry::kFlat:
      return "flat";
    case Geometry::kRow:
      return "row";
    case Geometry::kColumn:
      return "column";
    case Geometry::kWindow:
      return "window";
  }
  return "";
}

int64_t SizeClass(int64_t count) {
  if (count <= 8) return count;
  const int64_t step = int64_t{1} << (std::bit_width(static_cast<uint64_t>(count - 1)) - 3);
  return (count + step - 1) / step * step;
}

int64_t CoarseClass(int64_t count) {
  if (count <= 1) return count;
  return std::min(kMany, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(count))));
}

std::string ToString(const Key& key) {
  constexpr absl::string_view kAffine[] = {"both", "scale", "bias", "none"};
  Activation act{key.act, key.act_alpha, key.act_beta};
  std::string text = absl::StrCat(
      ToString(key.op), " ", ToString(key.dtype), " ", ToString(key.geometry),
      " param=", ToString(key.param), " affine=", kAffine[static_cast<int>(key.affine)],
      " residual=", key.residual ? 1 : 0, " act=", ToString(act),
      " access=", static_cast<int>(key.access_bytes), " index=", key.wide_index ? 64 : 32);
  absl::StrAppend(&text, " inner=", key.inner, " channels=", key.channels, " rows<=", key.row_class,
                  " reduce<=", key.reduce_class);
  return text;
}

int AlignmentOf(const Problem& problem, const Buffers& buffers) {
  uint64_t bits = kMaxAccess;
  for (Role role : {Role::kX, Role::kResidual, Role::kY}) bits |= buffers[role];
  return std::min(kMaxAccess, 1 << std::countr_zero(bits));
}

absl::Status KeyCovers(const Problem& p) {
  if (!p.next.empty()) return absl::UnimplementedError("'|': no kernel computes a chain yet");
  if (p.expr != nullptr) return absl::UnimplementedError("expr: no kernel computes one yet");
  if (!p.strides.empty() && p.strides != DenseStrides(p.dims, p.layout))
    return absl::UnimplementedError("strides: no kernel reads strided tensors yet");
  return absl::OkStatus();
}

Key KeyOf(const Problem& problem, int alignment, KeyHooks hooks) {
  Key key;
  key.op = problem.op;
  key.dtype = problem.dtype;
  key.act = problem.act.kind;
  key.act_alpha = problem.act.alpha + 0.0;  // no negative zeros: they compare equal
  key.act_beta = problem.act.beta + 0.0;
  key.wide_index = hooks.wide_index || problem.elements() * key.element_bytes() > INT32_MAX;
  if (IsNorm(problem.op)) {
    key.param = problem.param;
    key.affine = problem.affine;
    key.residual = problem.residual;
    problem.op == Op::kBatchNormInfer ? SetInferShape(problem, key) : SetTrainShape(problem, key);
  } else {
    key.param = key.dtype;
  }
  const int access = std::min({AccessThatDivides(RunBytes(key)), alignment, kMaxAccess});
  key.access_bytes = static_cast<uint8_t>(std::max(access, key.element_bytes()));
  return key;
}

Extents ExtentsOf(const Problem& problem) {
  Extents extents;
  extents.elements = problem.elements();
  extents.eps = problem.eps;
  if (problem.op != Op::kBatchNormTrain) return extents;
  const BatchNormShape shape = ShapeOf(problem);
  extents.rows = shape.rows;
  extents.segments = shape.segments;
  extents.segment_stride = shape.segment_stride;
  extents.reduced = problem.channels() == 0 ? 0 : problem.batch() * problem.spatial();
  extents.new_weight = problem.new_weight();
  if (problem.running_var == RunningVar::kUnbiased && extents.reduced > 1) {
    extents.var_correction =
        static_cast<double>(extents.reduced) / static_cast<double>(extents.reduced - 1);
  }
  return extents;
}

Extents RepresentativeExtents(const Key& key) {
  Extents extents;
  switch (key.geometry) {
    case Geometry::kRow:
      extents.rows = key.row_class;
      extents.segments = key.reduce_class;
      extents.segment_stride = key.inner * key.row_class;
      extents.reduced = key.reduce_class * key.inner;
      extents.elements = extents.rows * extents.reduced;
      break;
    case Geometry::kColumn:
      extents.rows = extents.reduced = key.reduce_class;
      extents.elements = key.reduce_class * key.inner;
      break;
    default:
      // Large enough that launch costs do not decide; a Flat kernel is the same for every size.
      extents.elements = int64_t{1} << 26;
  }
  return extents;
}

}  // namespace onepass
