// onepass-fuzz [--seed N] [--first N] [--runs N] [--seconds N] [--corpus DIR] [--found DIR]
//     runs mutated kernels; see fuzz_rounds.h. DIR holds the PTX to start from; an empty or new one
//     is filled first, which takes a minute.
// onepass-fuzz FILE...
//     runs these inputs, in this process, as they are.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/runtime/sim/fuzz/fuzz_corpus.h"
#include "tests/runtime/sim/fuzz/fuzz_rounds.h"
#include "tests/runtime/sim/fuzz/fuzz_target.h"

namespace onepass::sim {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool FillCorpus(const fs::path& folder) {
  std::vector<std::string> corpus = KeptCorpus();
  auto compiled = CompiledCorpus();
  if (!compiled.ok()) {
    std::fprintf(stderr, "%s\n", compiled.status().ToString().c_str());
    return false;
  }
  corpus.insert(corpus.end(), compiled->begin(), compiled->end());
  fs::create_directories(folder);
  for (size_t i = 0; i < corpus.size(); ++i) {
    std::ofstream(folder / absl::StrCat(10000 + i, ".ptx")) << corpus[i];
  }
  return true;
}

std::vector<std::string> ReadCorpus(const fs::path& folder) {
  if ((!fs::exists(folder) || fs::is_empty(folder)) && !FillCorpus(folder)) return {};
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> corpus;
  corpus.reserve(paths.size());
  for (const fs::path& path : paths) corpus.push_back(TextOf(path));
  return corpus;
}

int RunFile(const std::string& path) {
  const FuzzEnd end = RunFuzzInput(TextOf(path));
  std::printf("%s: %s; %d launches, %d ended well\n", path.c_str(), end.parsed.ToString().c_str(),
              end.launches, end.finished);
  return 0;
}

int Usage() {
  std::fprintf(stderr,
               "usage: onepass-fuzz [--seed N] [--first N] [--runs N] [--seconds N] [--corpus DIR] "
               "[--found DIR]\n       onepass-fuzz FILE...\n");
  return 2;
}

int Main(const std::vector<std::string>& words) {
  FuzzRounds rounds{.found = ONEPASS_BINARY_DIR "/fuzz-found"};
  std::string folder = ONEPASS_BINARY_DIR "/fuzz-corpus";
  if (!words.empty() && !words[0].starts_with("--")) {
    for (const std::string& path : words) RunFile(path);
    return 0;
  }
  for (size_t i = 0; i < words.size(); i += 2) {
    if (i + 1 == words.size()) return Usage();
    const std::string& value = words[i + 1];
    const bool good = words[i] == "--seed"      ? absl::SimpleAtoi(value, &rounds.seed)
                      : words[i] == "--first"   ? absl::SimpleAtoi(value, &rounds.first)
                      : words[i] == "--runs"    ? absl::SimpleAtoi(value, &rounds.runs)
                      : words[i] == "--seconds" ? absl::SimpleAtoi(value, &rounds.seconds)
                      : words[i] == "--corpus"  ? !(folder = value).empty()
                      : words[i] == "--found"   ? !(rounds.found = value).empty()
                                                : false;
    if (!good) return Usage();
  }
  const std::vector<std::string> corpus = ReadCorpus(folder);
  if (corpus.empty()) return 2;
  std::printf("%zu kernels to start from\n", corpus.size());
  return RunRounds(rounds, corpus) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace onepass::sim

int main(int count, char** words) { return onepass::sim::Main({words + 1, words + count}); }
