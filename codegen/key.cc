#include "codegen/key.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "codegen/operators.h"
#include "llvm/ADT/ArrayRef.h"

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

int LowestBit(uint64_t bits) { return 1 << std::countr_zero(bits); }

// A norm's reductions as one of the geometries; Extents and Key say what the fields are.
struct NormShape {
  Geometry geometry = Geometry::kRow;
  int64_t inner = 0;
  int64_t rows = 0;
  int64_t segments = 0;
  int64_t segment_stride = 0;
  int64_t row_stride = 0;
  int64_t params_per_row = 0;
  int64_t param_period = 0;
  int64_t param_run = 0;
};

// Elements of the widest access whose multiples make up `elements`.
int64_t AccessElements(int64_t elements, DType dtype) {
  return std::max<int64_t>(AccessThatDivides(elements * SizeOf(dtype)) / SizeOf(dtype), 1);
}

NormShape BatchNormShape(const Problem& p) {
  const int64_t n = p.batch(), c = p.channels(), s = p.spatial();
  NormShape shape{.params_per_row = 1, .param_period = c};
  if (c == 1) {
    shape.inner = shape.segment_stride = shape.row_stride = AccessElements(n * s, p.dtype);
    shape.rows = 1;
    shape.segments = n * s / shape.inner;
  } else if (s == 1 || p.layout == Layout::kChannelsLast) {
    shape.geometry = Geometry::kColumn;
    shape.inner = c;
    shape.rows = n * s;
  } else {
    shape.inner = shape.row_stride = s;
    shape.rows = c;
    shape.segments = n;
    shape.segment_stride = c * s;
  }
  return shape;
}

// A row is a sample's last axes, group or channel: contiguous.
NormShape SampleNormShape(const Problem& p) {
  const OpSet op = BitOf(p.op);
  NormShape shape;
  int64_t length = p.spatial();
  if ((op & (kLayerNorms | kRmsNorms)) != 0) {
    length = ElementsOf(llvm::ArrayRef<int64_t>(p.dims).take_back(p.axes));
    shape.param_period = length;
    shape.param_run = 1;
  } else {
    const bool groups = (op & kGroupNorms) != 0;
    shape.params_per_row = groups ? p.channels() / p.groups : 1;
    shape.param_period = p.channels();
    shape.param_run = shape.params_per_row > 1 ? length : 0;
    length *= shape.params_per_row;
  }
  if (p.affine == Affine::kNone) shape.param_run = 0;
  // No access straddles two runs, except where every element is its own.
  shape.inner = AccessElements(shape.param_run > 1 ? shape.param_run : length, p.dtype);
  shape.rows = length == 0 ? 0 : p.elements() / length;
  shape.segments = length / shape.inner;
  shape.segment_stride = shape.inner;
  shape.row_stride = length;
  return shape;
}

NormShape ShapeOf(const Problem& p) {
  return IsBatchNorm(p.op) ? BatchNormShape(p) : SampleNormShape(p);
}

void SetInferShape(const Problem& p, Key& key) {
  key.geometry = Geometry::kFlat;
  key.channels = p.channels();
  const bool last = p.layout == Layout::kChannelsLast;
  key.inner = key.channels == 1 ? ShapeOf(p).inner : last ? 1 : p.spatial();
}

void SetMeasuringShape(const Problem& p, Key& key) {
  const NormShape shape = ShapeOf(p);
  key.geometry = shape.geometry;
  key.inner = shape.inner;
  key.param_run = shape.param_run;
  const int64_t rows = p.batch_invariant ? kMany : shape.rows;
  key.row_class = shape.geometry == Geometry::kRow ? CoarseClass(rows) : 0;
  key.reduce_class = SizeClass(shape.geometry == Geometry::kRow ? shape.segments : shape.rows);
}

// Bytes whose divisors limit an access: contiguous runs begin at multiples of this.
int64_t RunBytes(const Key& key) {
  const int64_t run = key.geometry == Geometry::kFlat && key.inner == 1 ? key.channels : key.inner;
  return run * key.element_bytes();
}

// Whether the elements of every reduction of a sample norm lie side by side, in the order of their
// parameters.
bool RowsAreContiguous(const Problem& p) {
  if (p.layout == Layout::kChannelsFirst || p.channels() == 1 || p.spatial() == 1) return true;
  if (p.affine != Affine::kNone) return false;
  const OpSet op = BitOf(p.op);
  if ((op & (kLayerNorms | kRmsNorms)) != 0) return p.axes >= p.rank() - 1;
  return (op & kGroupNorms) != 0 && p.groups == 1;
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
  absl::StrAppend(&text, " inner=", key.inner, " param_run=", key.param_run,
                  " channels=", key.channels, " rows<=", key.row_class,
                  " reduce<=", key.reduce_class);
  return text;
}

int AlignmentOf(const Problem& problem, const Buffers& buffers) {
  uint64_t bits = kMaxAccess;
  for (Role role : {Role::kX, Role::kResidual, Role::kY}) bits |= buffers[role];
  const bool measures = (BitOf(problem.op) & kMeasuringNorms) != 0;
  if (!measures || ShapeOf(problem).param_run != 1) return LowestBit(bits);
  const uint64_t params = buffers[Role::kScale] | buffers[Role::kBias] | kMaxAccess;
  const int values = LowestBit(params) / SizeOf(problem.param);
  if (LowestBit(params) < kMaxAccess) bits |= static_cast<uint64_t>(values * SizeOf(problem.dtype));
  return LowestBit(bits);
}

absl::Status KeyCovers(const Problem& p) {
  if (!p.next.empty()) return absl::UnimplementedError("'|': no kernel computes a chain yet");
  if (p.expr != nullptr) return absl::UnimplementedError("expr: no kernel computes one yet");
  if (!p.strides.empty() && p.strides != DenseStrides(p.dims, p.layout))
    return absl::UnimplementedError("strides: no kernel reads strided tensors yet");
  if ((BitOf(p.op) & kMeasuringNorms) == 0) return absl::OkStatus();
  if (p.skip) return absl::UnimplementedError("skip: no kernel adds before it normalises yet");
  if (!IsBatchNorm(p.op) && !RowsAreContiguous(p)) {
    return absl::UnimplementedError(absl::StrCat("layout: no kernel computes ", ToString(p.op),
                                                 " over regions that nhwc scatters yet"));
  }
  const NormShape shape = ShapeOf(p);
  if (shape.geometry == Geometry::kRow && shape.rows > INT32_MAX) {
    return absl::UnimplementedError(absl::StrCat("x: ", shape.rows, " regions are more than the ",
                                                 INT32_MAX, " blocks of a grid"));
  }
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
    problem.op == Op::kBatchNormInfer ? SetInferShape(problem, key)
                                      : SetMeasuringShape(problem, key);
  } else {
    if (IsPool(problem.op)) key.geometry = Geometry::kWindow;
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
  if ((BitOf(problem.op) & kMeasuringNorms) == 0) return extents;
  const NormShape shape = ShapeOf(problem);
  extents.rows = shape.rows;
  extents.segments = shape.segments;
  extents.segment_stride = shape.segment_stride;
  extents.row_stride = shape.row_stride;
  extents.params_per_row = shape.params_per_row;
  extents.param_period = shape.param_period;
  if (!IsBatchNorm(problem.op)) {
    extents.reduced = shape.row_stride;
    extents.saves = problem.save;
    return extents;
  }
  extents.reduced = problem.channels() == 0 ? 0 : problem.batch() * problem.spatial();
  extents.saves = true;
  extents.new_weight = problem.new_weight();
  if (problem.running_var == RunningVar::kUnbiased && extents.reduced > 1) {
    extents.var_correction =
        static_cast<double>(extents.reduced) / static_cast<double>(extents.reduced - 1);
  }
  return extents;
}

Extents RepresentativeExtents(const Key& key) {
  Extents extents;
  extents.saves = key.op == Op::kBatchNormTrain;
  switch (key.geometry) {
    case Geometry::kRow:
      extents.rows = key.row_class;
      extents.segments = key.reduce_class;
      extents.segment_stride = key.inner * key.row_class;
      extents.reduced = key.reduce_class * key.inner;
      extents.elements = extents.rows * extents.reduced;
      extents.param_period = key.param_run == 0 ? extents.rows : extents.reduced / key.param_run;
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
