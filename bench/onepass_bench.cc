// onepass-bench: what each step of the road from a problem to its launch costs on this machine, in
// one run. Needs no GPU. "MISSED" stands beside a figure above its limit; the exit code is 0 all
// the same, because a busy machine is no fault.
//
//     onepass-bench [--json] [--out FILE] [--only GROUP]
//
//     --json       one JSON object on one line in place of the table
//     --out FILE   writes the same to FILE too
//     --only NAME  emission, compilation, first_request, launch_path, executor or simulation
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/string_view.h"
#include "bench/machine.h"
#include "bench/measurements.h"
#include "runtime/exit_code.h"
#include "runtime/options.h"

namespace onepass::bench {
namespace {

struct Group {
  absl::string_view name;
  void (*measure)(const Bench&, Figures&);
};

// The nanoseconds come before NVRTC has filled memory and caches.
constexpr Group kGroups[] = {
    {"emission", MeasureEmission},          {"launch_path", MeasureLaunchPath},
    {"first_request", MeasureFirstRequest}, {"compilation", MeasureCompilation},
    {"executor", MeasureExecutor},          {"simulation", MeasureSimulation}};

struct Flags {
  bool json = false;
  std::string out;
  std::string only;
};

bool IsGroup(absl::string_view name) {
  for (const Group& group : kGroups) {
    if (group.name == name) return true;
  }
  return false;
}

// False, with a message, where the words are not those above.
bool ReadFlags(int argc, char** argv, Flags& flags) {
  for (int i = 1; i < argc; ++i) {
    const absl::string_view word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--json") {
      flags.json = true;
    } else if (word == "--out" && has_value) {
      flags.out = argv[++i];
    } else if (word == "--only" && has_value && IsGroup(argv[i + 1])) {
      flags.only = argv[++i];
    } else {
      std::fprintf(stderr,
                   "onepass-bench: %s: usage: onepass-bench [--json] [--out FILE] [--only "
                   "emission|launch_path|first_request|compilation|executor|simulation]\n",
                   argv[i]);
      return false;
    }
  }
  return true;
}

// A folder of this run, removed at its end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "onepass-bench-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

int Main(int argc, char** argv) {
  Flags flags;
  if (!ReadFlags(argc, argv, flags)) return kExitInvalid;
  const Options environment = OptionsFromEnvironment();
  const auto nvrtc = Nvrtc::Load(environment.toolkit);
  if (!nvrtc.ok()) {
    std::fprintf(stderr, "onepass-bench: %s\n", OneLine(nvrtc.status().message()).c_str());
    return ExitCodeOf(nvrtc.status());
  }
  const ScratchFolder scratch;
  const Bench bench = {
      .nvrtc = *nvrtc, .cuda_home = environment.toolkit.cuda_home, .folder = scratch.path()};
  Figures figures(!flags.json, DescribeMachine());
  for (const Group& group : kGroups) {
    if (flags.only.empty() || flags.only == group.name) group.measure(bench, figures);
  }
  const std::string text = flags.json ? figures.Json() : figures.Table();
  if (flags.json) std::fputs(text.c_str(), stdout);
  if (flags.out.empty()) return kExitOk;
  std::ofstream file(flags.out);
  file << text;
  file.close();
  if (file) return kExitOk;
  std::fprintf(stderr, "onepass-bench: --out: cannot write %s\n", flags.out.c_str());
  return kExitOther;
}

}  // namespace
}  // namespace onepass::bench

int main(int argc, char** argv) { return onepass::bench::Main(argc, argv); }
