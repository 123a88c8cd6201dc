#include "bench/subjects.h"

#include "absl/strings/str_cat.h"
#include "codegen/emit.h"
#include "codegen/strategy.h"

namespace onepass::bench {
namespace {

struct Row {
  absl::string_view strategy;
  absl::string_view line;
};

constexpr Row kRows[] = {
    {"flat", "gelu_tanh.fwd bf16 4096x11008"},
    {"flat", "batch_norm.infer f16 32x64x56x56:nhwc act=relu"},
    {"persistent_block", "batch_norm.train f32 32x256x14x14 act=relu"},
    {"multi_pass", "batch_norm.train f32 32x64x112x112"},
    {"persistent_grid", "batch_norm.train f16 32x256x14x14:nhwc residual act=relu"},
    {"multi_pass", "batch_norm.train f16 32x64x56x56:nhwc"},
};

}  // namespace

std::string Subject::name() const { return absl::StrCat(strategy, ": ", ToString(problem)); }

std::vector<Subject> Subjects() {
  std::vector<Subject> subjects;
  for (const Row& row : kRows)
    subjects.push_back({*ParseProblem(row.line), std::string(row.strategy)});
  return subjects;
}

Key KeyFor(const Subject& subject) { return KeyOf(subject.problem, 16); }

Plan PlanOf(const Subject& subject) {
  return *PlanFor(KeyFor(subject), *FindDevice("h200"), subject.strategy);
}

Source SourceFor(const Subject& subject) { return EmitSource(KeyFor(subject), PlanOf(subject)); }

Source EmptyKernel() {
  Source source;
  source.text = "extern \"C\" __global__ void empty() {}\n";
  source.kernels = {"empty"};
  return source;
}

Buffers AddressesFor(const Problem& problem) {
  constexpr uint64_t kApart = uint64_t{1} << 32;
  Buffers buffers;
  uint64_t next = kApart;
  for (const TensorSpec& spec : TensorsOf(problem)) {
    buffers[spec.role] = spec.shares.has_value() ? buffers[*spec.shares] : next;
    next += kApart;
  }
  return buffers;
}

}  // namespace onepass::bench
