#include "runtime/reference/reference.h"

#include "absl/strings/str_cat.h"
#include "runtime/reference/norm.h"
#include "runtime/reference/pointwise.h"

namespace onepass {

absl::StatusOr<std::unique_ptr<Reference>> Reference::Create(const Problem& problem,
                                                             llvm::ArrayRef<HostTensor> inputs) {
  if (!problem.next.empty()) return absl::UnimplementedError("no reference for chains yet");
  const bool forward_norm = IsNorm(problem.op) && !IsGrad(problem.op);
  if (forward_norm && problem.skip) return absl::UnimplementedError("no reference for skip yet");
  if (forward_norm) return MakeNormReference(problem, inputs);
  switch (problem.op) {
    case Op::kPointwiseFwd:
      if (problem.expr) return absl::UnimplementedError("no reference for expressions yet");
      return MakePointwiseReference(problem, inputs);
    default:
      return absl::UnimplementedError(
          absl::StrCat("no reference for ", ToString(problem.op), " yet"));
  }
}

}  // namespace onepass
