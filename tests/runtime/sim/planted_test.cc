// Planted bugs: kernels with one known fault each, and the same kernels mended.
//
// A file of tests/runtime/sim/planted/ states what is to be found, how the kernels are launched and
// with which arguments; headers beside it hold what several kernels use:
//   // find: KIND; text; text...     the finding's kind, and what its message must hold
//   // run: grid=N block=N [cluster=N] [shared=BYTES] [cooperative]
//   // args: in|iota|zero|out:NAME:ELEMENTS:BYTES u32:V u64:V    `out`: nobody has written it
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/nvrtc.h"
#include "runtime/options.h"
#include "tests/runtime/sim/run_ptx.h"

namespace onepass::sim {
namespace {

namespace fs = std::filesystem;

constexpr char kFolder[] = ONEPASS_SOURCE_DIR "/tests/runtime/sim/planted";

struct Planted {
  std::string name;
  std::string source;
  std::string kind;
  std::vector<std::string> texts;
  LaunchShape shape;
  std::vector<std::string> arguments;
};

int64_t NumberOf(absl::string_view text) {
  int64_t number = 0;
  EXPECT_TRUE(absl::SimpleAtoi(text, &number)) << text;
  return number;
}

// The rest of the line that begins with "// KEY: "; later lines of a comment do not count.
std::string Header(const std::string& source, const std::string& key) {
  for (absl::string_view line : absl::StrSplit(source, '\n')) {
    if (absl::ConsumePrefix(&line, absl::StrCat("// ", key, ": "))) return std::string(line);
  }
  ADD_FAILURE() << "no line '// " << key << ":'";
  return "";
}

Planted Read(const fs::path& path) {
  Planted planted;
  planted.name = path.stem().string();
  std::ifstream file(path);
  planted.source.assign(std::istreambuf_iterator<char>(file), {});
  planted.texts = absl::StrSplit(Header(planted.source, "find"), "; ");
  planted.kind = planted.texts.front();
  planted.texts.erase(planted.texts.begin());
  for (absl::string_view word : absl::StrSplit(Header(planted.source, "run"), ' ')) {
    if (word == "cooperative") planted.shape.cooperative = true;
    if (absl::ConsumePrefix(&word, "grid=")) planted.shape.grid[0] = NumberOf(word);
    if (absl::ConsumePrefix(&word, "cluster=")) planted.shape.cluster[0] = NumberOf(word);
    if (absl::ConsumePrefix(&word, "block=")) planted.shape.block[0] = NumberOf(word);
    if (absl::ConsumePrefix(&word, "shared=")) planted.shape.dynamic_shared_bytes = NumberOf(word);
  }
  planted.arguments = absl::StrSplit(Header(planted.source, "args"), ' ');
  return planted;
}

std::vector<Planted> AllPlanted() {
  std::vector<Planted> all;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".cu") all.push_back(Read(entry.path()));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return all;
}

uint64_t Buffer(Gpu& gpu, const std::vector<std::string>& words) {
  const int64_t count = NumberOf(words[2]), unit = NumberOf(words[3]);
  const uint64_t address =
      *gpu.memory().Allocate(count * unit, 256, 0, words[1], static_cast<int>(unit));
  std::vector<uint8_t> bytes(count * unit);
  for (int64_t i = 0; i < count; ++i) {
    const float value = 1.0f + 0.25f * static_cast<float>(i);
    const uint32_t index = static_cast<uint32_t>(i);
    if (words[0] == "in") std::memcpy(&bytes[i * unit], &value, std::min<int64_t>(unit, 4));
    if (words[0] == "iota") std::memcpy(&bytes[i * unit], &index, std::min<int64_t>(unit, 4));
  }
  if (words[0] == "out") return address;
  EXPECT_TRUE(gpu.memory().Write(address, bytes.data(), count * unit).ok());
  return address;
}

struct Outcome {
  absl::Status status;
  std::vector<Finding> findings;
};

Outcome Run(const Planted& planted, const Module& module, const std::string& entry,
            uint64_t seed = 0) {
  Gpu gpu(Machine{.sms = 8},
          GpuOptions{.seed = seed, .instruction_limit = 1 << 20, .sanitize = true});
  Packed parameters;
  for (const std::string& argument : planted.arguments) {
    const std::vector<std::string> words = absl::StrSplit(argument, ':');
    if (words[0] == "u32") {
      parameters.Add(static_cast<uint32_t>(NumberOf(words[1])));
    } else if (words[0] == "u64") {
      parameters.Add(static_cast<uint64_t>(NumberOf(words[1])));
    } else {
      parameters.Add(Buffer(gpu, words));
    }
  }
  LaunchShape shape = planted.shape;
  shape.entry = entry;
  Outcome outcome;
  outcome.status = gpu.Launch(module, shape, parameters.bytes());
  outcome.findings = gpu.TakeFindings();
  return outcome;
}

bool Names(const Finding& finding, const Planted& planted) {
  return NameOf(finding.kind) == planted.kind &&
         std::all_of(planted.texts.begin(), planted.texts.end(), [&](const std::string& text) {
           return finding.message.find(text) != std::string::npos;
         });
}

std::shared_ptr<const Module> Compiled(const Nvrtc& nvrtc, const Planted& planted,
                                       const std::string& arch) {
  const std::vector<std::string> more = {"--generate-line-info", absl::StrCat("-I", kFolder)};
  const auto binary =
      nvrtc.Compile(Source{.text = planted.source, .kernels = {"faulty", "mended"}}, arch, more);
  EXPECT_TRUE(binary.ok()) << planted.name << ": " << binary.status();
  return binary.ok() ? Parsed(binary->ptx) : nullptr;
}

std::string ListOf(const std::vector<Finding>& findings) {
  std::string list;
  for (const Finding& finding : findings) {
    absl::StrAppend(&list, "\n    [", std::string(NameOf(finding.kind)), "] ", finding.message);
  }
  return list.empty() ? " nothing" : list;
}

// Both kernels of every file; `print` gets a row of the table.
void CheckAll(const std::string& arch, bool print) {
  const auto nvrtc = Nvrtc::Load(OptionsFromEnvironment().toolkit);
  ASSERT_TRUE(nvrtc.ok()) << nvrtc.status();
  std::map<std::string, int> by_kind;
  for (const Planted& planted : AllPlanted()) {
    const auto module = Compiled(**nvrtc, planted, arch);
    if (module == nullptr) continue;
    const Outcome faulty = Run(planted, *module, "faulty");
    const auto found =
        std::find_if(faulty.findings.begin(), faulty.findings.end(),
                     [&](const Finding& finding) { return Names(finding, planted); });
    EXPECT_TRUE(found != faulty.findings.end())
        << planted.name << " is looked for in vain; found:" << ListOf(faulty.findings);
    for (const uint64_t seed : {0, 1}) {
      const Outcome mended = Run(planted, *module, "mended", seed);
      EXPECT_TRUE(mended.status.ok()) << planted.name << ": " << mended.status;
      EXPECT_TRUE(mended.findings.empty())
          << planted.name << ", mended, is reported:" << ListOf(mended.findings);
    }
    ++by_kind[planted.kind];
    if (print && found != faulty.findings.end()) {
      std::printf("  %-36s %-20s %s\n", planted.name.c_str(), planted.kind.c_str(),
                  found->message.c_str());
    }
  }
  int count = 0;
  for (const auto& [kind, number] : by_kind) {
    if (print) std::printf("  %3d %s\n", number, kind.c_str());
    count += number;
  }
  EXPECT_GE(count, 40);
}

TEST(PlantedBugs, EveryOneIsFoundAndNamedAndNoneWhereMended) { CheckAll("compute_90", true); }
TEST(PlantedBugs, AlsoInCodeOfTheOtherFrontEnd) { CheckAll("compute_100", false); }

}  // namespace
}  // namespace onepass::sim
