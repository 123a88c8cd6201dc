#include "bench/executor_run.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"

namespace onepass::bench {
namespace {

constexpr uint32_t kThreads = 256;

// Appends a kernel argument that lies on its own alignment.
template <class T>
void Append(std::vector<uint8_t>& arguments, T value) {
  const size_t at = (arguments.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T);
  arguments.resize(at + sizeof(T));
  std::memcpy(arguments.data() + at, &value, sizeof(T));
}

struct Step {
  const Step* (*fn)(const Step&);
};
const Step* Next(const Step& step) { return &step + 1; }

}  // namespace

void RunNullLoop(int64_t steps) {
  static const std::vector<Step> program(64, Step{&Next});
  const Step* step = program.data();
  for (int64_t i = 0; i < steps; ++i) {
    const Step* next = step->fn(*step);
    step = next == program.data() + program.size() ? program.data() : next;
  }
  asm volatile("" : : "r"(step));
}

absl::StatusOr<std::shared_ptr<const sim::Module>> CompileExecutorKernels(const Bench& bench) {
  const std::string path = std::string(ONEPASS_SOURCE_DIR) + "/bench/kernels/executor.cu";
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  Source source;
  source.text = text.str();
  source.kernels = {"float_mix"};
  const auto binary = bench.nvrtc->Compile(source, "compute_90");
  if (!binary.ok()) return binary.status();
  return sim::Module::Parse(binary->ptx);
}

ExecutorRun::ExecutorRun(std::shared_ptr<const sim::Module> module, const ExecutorCase& of)
    : module_(std::move(module)),
      gpu_(sim::Machine{}, {.host_threads = of.host_threads, .sanitize = of.sanitize}) {
  shape_.entry = of.kernel;
  shape_.block[0] = kThreads;
}

absl::StatusOr<std::unique_ptr<ExecutorRun>> ExecutorRun::Start(
    std::shared_ptr<const sim::Module> module, const ExecutorCase& of) {
  std::unique_ptr<ExecutorRun> run(new ExecutorRun(std::move(module), of));
  for (const char* label : {"out", "in"}) {
    const auto address = run->gpu_.memory().Allocate(of.bytes, 256, 0, label, 4);
    if (!address.ok()) return address.status();
    // A 32-bit pattern that is a number around one half in f32 and in f16.
    if (absl::Status s = run->gpu_.memory().Fill(*address, 0x38, of.bytes); !s.ok()) return s;
    Append(run->arguments_, *address);
  }
  const bool copies = of.kernel.starts_with("copy");
  if (copies) {
    const int width = of.kernel == "copy_vectors" ? 16 : 4;
    Append(run->arguments_, static_cast<int32_t>(of.bytes / width));
    run->shape_.grid[0] = static_cast<uint32_t>(
        std::clamp<int64_t>(of.bytes / width / (16 * kThreads), 1, run->gpu_.machine().sms * 8));
  } else {
    run->shape_.grid[0] = static_cast<uint32_t>(of.bytes / 4 / kThreads);
  }
  Append(run->arguments_, of.repeat);
  if (absl::Status s = run->Launch(); !s.ok()) return s;
  run->warp_instructions_ = run->gpu_.TakeCounts().warp_instructions;
  return run;
}

absl::Status ExecutorRun::Launch() { return gpu_.Launch(*module_, shape_, arguments_); }

void ExecutorRun::Run() {
  (void)Launch();
  (void)gpu_.TakeCounts();
}

}  // namespace onepass::bench
