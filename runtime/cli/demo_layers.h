// The demonstration's second part: the batch norms of ResNet-50, persistent against multi-pass.
#pragma once

#include <cstdint>

#include "runtime/session.h"

namespace onepass::cli {

struct LayerTally {
  int layers = 0;      // distinct ones times layouts and types
  int persistent = 0;  // of which a persistent strategy accepts
  int wrong = 0;
  int compiled = 0;  // kernels that the compiler made
  double compile_ms = 0;
  // Of the layers that a persistent strategy accepts, each as often as the network has it.
  int64_t persistent_bytes = 0, multi_pass_bytes = 0, minimum_bytes = 0;
};

// Runs every distinct layer at batch 32 in both layouts, in f16 and f32, with both kinds of
// strategy, and prints a row for each. Without `check` the numbers are not compared.
LayerTally DemonstrateLayers(Session& session, bool check);

}  // namespace onepass::cli
