// The flags and keys of a problem line: one table, in canonical order, that the parser, the printer
// and the check of who takes what share.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "codegen/operators.h"
#include "codegen/problem.h"
#include "llvm/ADT/ArrayRef.h"

namespace onepass {

struct ProblemWord {
  enum class Form { kFlag, kKey, kEither };

  absl::string_view name;
  Form form;
  OpSet ops;        // the operators that take it
  bool first_only;  // describes a whole chain: not taken by its later stages
  // Reads the value ("" of a flag) into the problem. Errors lack the name, which the caller puts in
  // front.
  absl::Status (*parse)(absl::string_view value, Problem& problem);
  // What stands behind "name="; "" for the bare name; nothing where the problem has the default.
  std::optional<std::string> (*print)(const Problem& problem);
};

llvm::ArrayRef<ProblemWord> ProblemWords();

// "32x64x7x7". A size is a whole number that is not negative.
absl::StatusOr<Dims> ParseSizes(absl::string_view text);
std::string PrintSizes(const Dims& sizes);

// The type of parameters where none is given: f64 for f64, else f32.
constexpr DType DefaultParam(DType dtype) { return AccumulationType(dtype); }
// The affine parameters where none are given: all that the operator usually has.
constexpr Affine DefaultAffine(Op op) {
  return (BitOf(op) & kRmsNorms) != 0 ? Affine::kScale : Affine::kBoth;
}

}  // namespace onepass
