// Key and Extents: what is baked into a kernel, and what is passed at launch.
//
// A Problem becomes a Key by canonicalising its geometry (unit axes dropped, mergeable axes
// merged), so that problems which need the same kernel share it: batch and row counts are Extents,
// and only a coarse class of them, which the planner needs in order to choose a tile, is in the
// Key.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "codegen/activation.h"
#include "codegen/dtype.h"
#include "codegen/problem.h"
#include "codegen/roles.h"

namespace onepass {

enum class Geometry : uint8_t {
  kFlat,    // no reduction
  kRow,     // one reduction a row; a row is `segments` runs of `inner` contiguous elements
  kColumn,  // reduce down the rows of a matrix whose columns are contiguous
  kWindow,  // pooling
};
absl::string_view ToString(Geometry geometry);

// Upper bounds on a count: what a Key knows of an Extent. SizeClass has four steps an octave (1, 2,
// 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20...), CoarseClass has one and ends at 8192, "many".
int64_t SizeClass(int64_t count);
int64_t CoarseClass(int64_t count);

// What is compiled in. Two problems with equal Keys run the same binary. Plain data, compared and
// hashed field by field.
struct Key {
  Op op = Op::kPointwiseFwd;
  Geometry geometry = Geometry::kFlat;
  DType dtype = DType::kF32;
  DType param = DType::kF32;
  Affine affine = Affine::kNone;
  bool residual = false;
  bool wide_index = false;  // some tensor's largest byte offset needs 64 bits
  ActivationKind act = ActivationKind::kIdentity;
  // Every address of a data tensor that a vector access may begin at is a multiple of this: 1 to 16
  // bytes, at least the element. Comes from the pointers and from the inner size.
  uint8_t access_bytes = 16;
  double act_alpha = 0;
  double act_beta = 0;
  // Contiguous elements: of a segment (Row), of a matrix row (Column: all columns), of a run that
  // shares its channel (Flat with channels: 1 for channels last). 0 for Flat without channels.
  //
  // Where rows are contiguous as a whole, a segment is one access, so that their length stays an
  // Extent.
  int64_t inner = 0;
  // Row: consecutive elements of a row that share their scale and bias; 0: all of them.
  int64_t param_run = 0;
  // Flat batch_norm.infer: the number of channels. Otherwise 0.
  int64_t channels = 0;
  // CoarseClass of the number of rows of a Row problem, else 0.
  int64_t row_class = 0;
  // SizeClass of the number of segments of a row (Row) or of matrix rows (Column), else 0.
  int64_t reduce_class = 0;

  bool has_scale() const { return affine == Affine::kBoth || affine == Affine::kScale; }
  bool has_bias() const { return affine == Affine::kBoth || affine == Affine::kBias; }
  int element_bytes() const { return SizeOf(dtype); }
  // Elements of one access.
  int vector() const { return access_bytes / SizeOf(dtype); }

  bool operator==(const Key&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const Key& k) {
    return H::combine(std::move(h), k.small_fields(), k.act_alpha, k.act_beta, k.inner, k.param_run,
                      k.channels, k.row_class, k.reduce_class);
  }

 private:
  // The small fields in one word, for the hash: on the hot path every word costs a multiplication.
  uint64_t small_fields() const {
    uint64_t word = 0;
    for (int field : {int(op), int(geometry), int(dtype), int(param), int(affine), int(residual),
                      int(wide_index), int(act), int(access_bytes)}) {
      word = word << 7 | static_cast<uint64_t>(field);
    }
    return word;
  }
};

// One line; equal Keys print equal text. Never mentions an Extent.
std::string ToString(const Key& key);

// What changes from launch to launch without recompiling.
struct Extents {
  int64_t elements = 0;        // of x
  int64_t rows = 0;            // Row: reductions. Column: matrix rows
  int64_t segments = 0;        // Row: runs of one row
  int64_t segment_stride = 0;  // Row: elements from one run of a row to the next
  int64_t row_stride = 0;      // Row: elements from one row to the next
  // Row: element p of row r has scale and bias number r * params_per_row % param_period +
  // p / Key::param_run. There are param_period of each.
  int64_t params_per_row = 0;
  int64_t param_period = 0;
  bool saves = false;   // mean and 1 / deviation of every reduction are outputs
  int64_t reduced = 0;  // values a reduction sees
  double eps = 0;
  double new_weight = 0;      // weight of the new value in the running statistics
  double var_correction = 1;  // running variance over the biased one: n/(n-1), or 1
  bool operator==(const Extents&) const = default;
};

// Device addresses by role; 0 where the problem has no such tensor.
struct Buffers {
  std::array<uint64_t, kRoleCount> at = {};
  uint64_t& operator[](Role role) { return at[static_cast<int>(role)]; }
  uint64_t operator[](Role role) const { return at[static_cast<int>(role)]; }
};

// The largest power of two, at most 16, that divides the address of every data tensor (of x's
// type), and where every element of a row has its own scale and bias, lets them be read in as many
// values at once.
int AlignmentOf(const Problem& problem, const Buffers& buffers);

// Forces on small tensors what only large ones need; for tests.
struct KeyHooks {
  bool wide_index = false;
};

// kUnimplemented where a Key does not say all that the problem asks for: chains, expressions,
// strides, `skip`, and regions of samples that are not contiguous have no kernels yet. A few ns.
absl::Status KeyCovers(const Problem& problem);

// Problem must have passed Validate and KeyCovers. `alignment` is AlignmentOf's value. Cost: below
// 100 ns.
Key KeyOf(const Problem& problem, int alignment, KeyHooks hooks = {});
Extents ExtentsOf(const Problem& problem);
// The largest sizes of the Key's classes; what a plan must be able to serve.
Extents RepresentativeExtents(const Key& key);

}  // namespace onepass
