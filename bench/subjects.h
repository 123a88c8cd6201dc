// What the benchmarks measure with: one problem for each strategy, and its kernel on the way.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "codegen/key.h"
#include "codegen/plan.h"
#include "codegen/problem.h"
#include "codegen/roles.h"
#include "runtime/nvrtc.h"

namespace onepass::bench {

// A problem with the strategy that is forced on it.
struct Subject {
  Problem problem;
  std::string strategy;

  std::string name() const;  // "persistent_block: batch_norm.train f32 32x256x14x14"
};

std::vector<Subject> Subjects();

// Of an H200 and fully aligned tensors.
Key KeyFor(const Subject& subject);
Plan PlanOf(const Subject& subject);
Source SourceFor(const Subject& subject);
Source EmptyKernel();

// Made-up addresses, far apart; what a NullDevice takes.
Buffers AddressesFor(const Problem& problem);

// What all measurements share.
struct Bench {
  std::shared_ptr<Nvrtc> nvrtc;
  std::string cuda_home;  // where nvcc may be; "" unknown
  std::string folder;     // for files; the caller removes it
};

}  // namespace onepass::bench
