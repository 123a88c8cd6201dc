// Changes PTX text in ways that a parser has to live with, and mostly in ways that still parse.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/sim/random.h"

namespace onepass::sim {

// What a mutation may change, and where it may take from: `corpus` is not empty.
struct Mutable {
  std::string& text;
  const std::vector<std::string>& corpus;
  Random& random;

  const std::string& Other() const { return corpus[random.Below(corpus.size())]; }
};

using Mutation = void (*)(const Mutable&);

// mutate_lines.cc: whole lines are deleted, repeated, swapped, moved, taken from other modules;
// branches to any label and declarations of any size appear.
std::span<const Mutation> LineMutations();
// mutate_tokens.cc: registers, numbers and parts of opcodes are replaced by other ones.
std::span<const Mutation> TokenMutations();

// A text of the corpus behind a "//launch " line, mutated a few times, in one of a hundred not at
// all. The same for the same corpus, seed and number.
std::string MutatedInput(const std::vector<std::string>& corpus, uint64_t seed, uint64_t number);

}  // namespace onepass::sim
