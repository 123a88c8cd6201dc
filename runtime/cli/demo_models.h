// The demonstration's first part: models that ONNX ships with the tensors they must give.
#pragma once

#include "absl/status/statusor.h"
#include "runtime/session.h"

namespace onepass::cli {

struct ModelTally {
  int right = 0;
  int wrong = 0;
  int unsupported = 0;
  double compile_ms = 0;
};

// Runs every single-operator model of libonnx-testdata whose operator is batch normalisation or an
// activation of ours, and prints a row for each. kUnavailable where the package is missing, which
// says so.
absl::StatusOr<ModelTally> DemonstrateModels(Session& session);

}  // namespace onepass::cli
