// onepass-demo: what the project does, on real input, in under two minutes.
#include <malloc.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <limits>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/cli/command.h"
#include "runtime/cli/demo_layers.h"
#include "runtime/cli/demo_models.h"
#include "runtime/cli/environment.h"
#include "runtime/exit_code.h"
#include "runtime/session.h"

namespace onepass::cli {
namespace {

constexpr char kDevice[] = "sim:h200";
constexpr char kCacheFolder[] = ONEPASS_BINARY_DIR "/demo-cache";

// A session as a new process would open it: nothing in memory, only the folder.
absl::StatusOr<std::unique_ptr<Session>> OpenDemoSession() {
  Options environment = Environment();
  environment.cache_dir = kCacheFolder;
  auto session = Session::Open({.device = kDevice,
                                .sanitize = false,
                                .use_cache = true,
                                .environment = environment,
                                .warn = {}});
  if (session.ok() && !(*session)->compiler_status().ok()) return (*session)->compiler_status();
  return session;
}

void Title(absl::string_view text) { absl::PrintF("\n%s\n\n", text); }

double SecondsSince(absl::Time start) { return absl::ToDoubleSeconds(absl::Now() - start); }

struct Story {
  ModelTally models;
  LayerTally cold, warm;
  double cold_seconds = 0, warm_seconds = 0;
  bool ok() const { return models.wrong + cold.wrong + warm.wrong == 0 && warm.compiled == 0; }
};

absl::Status Tell(Story& story) {
  auto session = OpenDemoSession();
  if (!session.ok()) return session.status();
  Title(
      "(a) Models of ONNX's test data: source, NVRTC, cache, simulated H200, compared with their "
      "own tensors");
  auto models = DemonstrateModels(**session);
  if (!models.ok()) return models.status();
  story.models = *models;

  Title(
      "(b) ResNet-50's batch norms (training, batch 32), persistent against multi-pass, nothing in "
      "the cache");
  absl::Time start = absl::Now();
  story.cold = DemonstrateLayers(**session, true);
  story.cold_seconds = SecondsSince(start);

  Title(
      "(c) The same again as a new process would, served from the cache (numbers not compared "
      "again)");
  session = OpenDemoSession();
  if (!session.ok()) return session.status();
  start = absl::Now();
  story.warm = DemonstrateLayers(**session, false);
  story.warm_seconds = SecondsSince(start);
  return absl::OkStatus();
}

double Ratio(int64_t bytes, int64_t minimum) {
  return minimum == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(minimum);
}

void PrintEnd(const Story& story) {
  const LayerTally& cold = story.cold;
  Title("What you just saw:");
  absl::PrintF(
      "1. %d ONNX models ran through generated CUDA source, NVRTC, the cache and a simulated H200: "
      "%d gave "
      "the tensors they ship, %d did not (%d others are not supported yet).\n",
      story.models.right + story.models.wrong, story.models.right, story.models.wrong,
      story.models.unsupported);
  absl::PrintF(
      "2. ResNet-50's batch norms: where one chip holds the data (%d of %d cases), persistent "
      "kernels moved "
      "%.3f times the least DRAM bytes there can be, multi-pass ones %.3f times; %d cases were "
      "wrong.\n",
      cold.persistent, cold.layers, Ratio(cold.persistent_bytes, cold.minimum_bytes),
      Ratio(cold.multi_pass_bytes, cold.minimum_bytes), cold.wrong);
  absl::PrintF(
      "3. The first round compiled %d kernels (%.1f s in NVRTC); the second found every one on "
      "disk (%d compiled) "
      "and took %.0f s instead of %.0f s.\n",
      cold.compiled, cold.compile_ms * 1e-3, story.warm.compiled, story.warm_seconds,
      story.cold_seconds);
}

// Tensors of a hundred megabytes come and go: by default each would be mapped, zeroed and unmapped
// by the kernel, a tenth of the demonstration's time.
void KeepFreedMemory() {
  constexpr int kLargest = 1 << 30;
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, kLargest);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

int RunDemo() {
  KeepFreedMemory();
  std::error_code error;
  std::filesystem::remove_all(kCacheFolder, error);
  Story story;
  if (absl::Status s = Tell(story); !s.ok()) return Complain(s);
  PrintEnd(story);
  return story.ok() ? kExitOk : Complain("something above is wrong", kExitCheckFailed);
}

}  // namespace
}  // namespace onepass::cli

int main() {
  try {
    return onepass::cli::RunDemo();
  } catch (const std::exception& error) {
    return onepass::cli::Complain(error.what(), onepass::kExitOther);
  }
}
