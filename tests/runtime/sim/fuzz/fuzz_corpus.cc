#include "tests/runtime/sim/fuzz/fuzz_corpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "codegen/emit.h"
#include "codegen/strategy.h"
#include "runtime/nvrtc.h"
#include "runtime/options.h"

namespace onepass::sim {
namespace {

namespace fs = std::filesystem;

constexpr char kTests[] = ONEPASS_SOURCE_DIR "/tests/";
constexpr const char* kProblems[] = {"batch_norm.train f16 8x64x14x14:nhwc act=relu",
                                     "batch_norm.train f32 8x16x14x14",
                                     "batch_norm.infer bf16 4x8x9x9 act=swish residual",
                                     "gelu_erf.fwd f16 1000", "batch_norm.train f64 4x8x6x6"};

std::string TextOf(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> LinesOf(const std::string& text) { return absl::StrSplit(text, '\n'); }

std::vector<fs::path> FilesIn(const std::string& folder, const std::string& extension) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(kTests + folder)) {
    if (entry.path().extension() == extension) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void AddKernelsOf(const std::string& ptx, std::vector<std::string>& corpus) {
  for (std::string& kernel : KernelsOf(ptx)) corpus.push_back(std::move(kernel));
}

// The sections of semantics.txt as kernels of their own; see there.
void AddSemantics(std::vector<std::string>& corpus) {
  std::string before, body;
  for (const std::string& line : LinesOf(TextOf(absl::StrCat(kTests, "cases/sim/semantics.txt")))) {
    const bool ends = line.starts_with("//// ") && !line.starts_with("//// launch");
    if (line == "---") std::swap(before, body);
    if (ends && !body.empty()) {
      corpus.push_back(absl::StrCat(".version 9.0\n.target sm_90\n.address_size 64\n", before,
                                    ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n",
                                    ".reg .pred %p<16>;\n.reg .b16 %h<32>;\n.reg .b32 %r<32>;\n",
                                    ".reg .f32 %f<32>;\n.reg .b64 %d<32>;\n.reg .b64 %in, %out;\n",
                                    "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n", body,
                                    "ret;\n}\n"));
    }
    if (ends) before = body = "";
    if (!line.starts_with("//// ") && !line.starts_with("#") && line != "---") {
      absl::StrAppend(&body, line, "\n");
    }
  }
}

absl::Status AddCompiled(const Nvrtc& nvrtc, const Source& source, const std::string& folder,
                         std::vector<std::string>& corpus) {
  for (const char* arch : {"compute_80", "compute_90", "compute_100"}) {
    const std::vector<std::string> more = {absl::StrCat("-I", kTests, folder)};
    const auto binary = nvrtc.Compile(source, arch, more);
    // Not every kernel is for every architecture.
    if (binary.ok()) AddKernelsOf(binary->ptx, corpus);
    if (!binary.ok() && !absl::IsAborted(binary.status())) return binary.status();
  }
  return absl::OkStatus();
}

absl::Status AddFolder(const Nvrtc& nvrtc, const std::string& folder,
                       std::vector<std::string>& corpus) {
  for (const fs::path& path : FilesIn(folder, ".cu")) {
    Source source;
    source.text = absl::StrReplaceAll(TextOf(path), {{"//#include", "#include"}});
    source.kernels = {path.stem().string()};  // for messages
    absl::Status status = AddCompiled(nvrtc, source, folder, corpus);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status AddEmitted(const Nvrtc& nvrtc, std::vector<std::string>& corpus) {
  for (const char* line : kProblems) {
    const auto problem = ParseProblem(line);
    if (!problem.ok()) return problem.status();
    for (const char* chip : {"a100", "h200", "b200"}) {
      const Key key = KeyOf(*problem, 16);
      const auto plan = PlanFor(key, *FindDevice(chip));
      if (!plan.ok()) return plan.status();
      const auto binary = nvrtc.Compile(EmitSource(key, *plan), FindDevice(chip)->arch());
      if (!binary.ok()) return binary.status();
      AddKernelsOf(binary->ptx, corpus);
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> KernelsOf(const std::string& ptx) {
  std::string outside;
  std::vector<std::string> bodies;
  bool inside = false;
  for (const std::string& line : LinesOf(ptx)) {
    const bool begins = line.starts_with(".visible .entry") || line.starts_with(".entry");
    if (begins && !inside) bodies.emplace_back();
    inside |= begins;
    absl::StrAppend(inside ? &bodies.back() : &outside, line, "\n");
    if (line == "}") inside = false;
  }
  for (std::string& body : bodies) body.insert(0, outside);
  return bodies;
}

std::vector<std::string> KeptCorpus() {
  std::vector<std::string> corpus;
  for (const fs::path& path : FilesIn("cases/sim", ".ptx")) AddKernelsOf(TextOf(path), corpus);
  AddSemantics(corpus);
  return corpus;
}

absl::StatusOr<std::vector<std::string>> CompiledCorpus() {
  const auto nvrtc = Nvrtc::Load(OptionsFromEnvironment().toolkit);
  if (!nvrtc.ok()) return nvrtc.status();
  std::vector<std::string> corpus;
  absl::Status status = AddFolder(**nvrtc, "runtime/sim/kernels", corpus);
  if (status.ok()) status = AddFolder(**nvrtc, "runtime/sim/planted", corpus);
  if (status.ok()) status = AddEmitted(**nvrtc, corpus);
  if (!status.ok()) return status;
  return corpus;
}

}  // namespace onepass::sim
