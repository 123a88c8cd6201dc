// Holds the tree to the directions of dependency in the design. Every rule is shown twice: to hold
// in the tree, and to see a violation that is planted for it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kRooms[] = {"codegen", "runtime", "templates", "cache", "tests", "bench"};

struct Source {
  std::string path;  // from the root of the tree, with '/'
  std::string text;
};

bool IsSource(const fs::path& path) {
  static const std::regex extension(R"(\.(h|hpp|cc|cuh)$)");
  return std::regex_search(path.string(), extension);
}

std::string ReadText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// All sources of the tree but the emitted ones, sorted by path.
const std::vector<Source>& Tree() {
  static const std::vector<Source>* tree = [] {
    auto* sources = new std::vector<Source>;
    const fs::path root = ONEPASS_SOURCE_DIR;
    for (const char* room : kRooms) {
      if (!fs::exists(root / room)) continue;
      for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
        if (!entry.is_regular_file() || !IsSource(entry.path())) continue;
        sources->push_back(
            {fs::relative(entry.path(), root).generic_string(), ReadText(entry.path())});
      }
    }
    std::sort(sources->begin(), sources->end(),
              [](const Source& a, const Source& b) { return a.path < b.path; });
    return sources;
  }();
  return *tree;
}

// Runs `visit(name)` over the names in the #include lines of `text`.
template <typename Visit>
void ForEachInclude(const std::string& text, Visit visit) {
  static const std::regex include(R"re([ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"].*)re");
  std::istringstream lines(text);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    const bool directive = line.find('#') != std::string::npos;
    if (directive && std::regex_match(line, match, include)) visit(match[1].str());
  }
}

struct IncludeRule {
  const char* name;
  const char* where;      // what paths the rule speaks about
  const char* forbidden;  // what these must not include
  const char* planted_path;
  const char* planted_include;
};

void PrintTo(const IncludeRule& rule, std::ostream* out) { *out << rule.name; }

constexpr IncludeRule kIncludeRules[] = {
    {"CodegenIsALeaf", "^codegen/", "^(cache|runtime|tests|bench|onepass)/", "codegen/plan.cc",
     "runtime/engine.h"},
    {"CacheIsALeaf", "^cache/", "^(codegen|runtime|tests|bench|onepass)/", "cache/disk_store.cc",
     "codegen/key.h"},
    {"SimExecutesAnyonesPtx", "^runtime/sim/", "^(codegen|cache)/", "runtime/sim/executor.cc",
     "codegen/device_spec.h"},
    {"SimStandsAlone", "^runtime/sim/", "^(runtime/(?!sim/)|onepass/)", "runtime/sim/memory.h",
     "runtime/device/device.h"},
    {"ReferenceKnowsProblemsOnly", "^runtime/reference/",
     "^(cache/|codegen/strategies/|runtime/(?!reference/))", "runtime/reference/pool.cc",
     "codegen/strategies/window.h"},
    {"TemplatesNeedNoIncludePath", "^templates/", R"(^(?!\w+\.cuh$))", "templates/block_reduce.cuh",
     "cooperative_groups.h"},
    {"PublicHeadersBringNothing", "^runtime/include/onepass/",
     R"(^(?!onepass/|dlpack/|std(int|def|bool)\.h$|[a-z_]+$))",
     "runtime/include/onepass/onepass.hpp", "absl/status/status.h"},
    {"CudaHeadersStayInRuntime", R"(^(?!runtime/.*\.cc$|bench/))", R"(^(cuda|nvrtc)\w*\.h$)",
     "runtime/device/cuda_device.h", "cuda.h"},
    {"CudnnStaysInBench", "^(?!bench/)", R"(^cudnn\w*\.h$)", "runtime/device/peer.cc", "cudnn.h"},
    {"OnnxMessagesStayInOneFolder", R"(^(?!(tests/)?runtime/onnx/))", "^(onnx|google/protobuf)/",
     "runtime/engine.cc", "onnx/onnx_pb.h"},
    {"ProductDoesNotKnowItsTests", "^(codegen|runtime|cache|templates)/",
     "^(tests|bench|gtest|gmock|benchmark)/", "runtime/engine.cc", "gtest/gtest.h"},
};

// The violations of `rule` in `sources`, as "path includes name".
std::vector<std::string> Violations(const IncludeRule& rule, const std::vector<Source>& sources) {
  const std::regex where(rule.where);
  const std::regex forbidden(rule.forbidden);
  std::vector<std::string> found;
  for (const Source& source : sources) {
    if (!std::regex_search(source.path, where)) continue;
    ForEachInclude(source.text, [&](const std::string& name) {
      if (std::regex_search(name, forbidden)) found.push_back(source.path + " includes " + name);
    });
  }
  return found;
}

class IncludeRuleTest : public testing::TestWithParam<IncludeRule> {};

TEST_P(IncludeRuleTest, HoldsInTheTree) { EXPECT_THAT(Violations(GetParam(), Tree()), IsEmpty()); }

TEST_P(IncludeRuleTest, SeesAPlantedViolation) {
  const IncludeRule& rule = GetParam();
  const std::string line = std::string("#include \"") + rule.planted_include + "\"\n";
  const std::vector<Source> planted = {{"runtime/innocent.cc", "#include <string>\n"},
                                       {rule.planted_path, "#pragma once\n" + line}};
  EXPECT_THAT(Violations(rule, planted),
              ElementsAre(std::string(rule.planted_path) + " includes " + rule.planted_include));
}

INSTANTIATE_TEST_SUITE_P(, IncludeRuleTest, testing::ValuesIn(kIncludeRules),
                         [](const auto& info) { return info.param.name; });

// Rules about text.

struct TextRule {
  const char* name;
  const char* where;
  const char* forbidden;
  const char* planted_path;
  const char* planted_text;
};

void PrintTo(const TextRule& rule, std::ostream* out) { *out << rule.name; }

constexpr TextRule kTextRules[] = {
    {"EnvironmentIsReadInOnePlace", R"(^(codegen|cache|bench|runtime/(?!options\.cc$)))",
     R"(\bgetenv\s*\()", "cache/disk_store.cc", "const char* home = std::getenv(\"HOME\");\n"},
    {"TypesSayWhatTheyAre", R"(^(codegen|cache|runtime|bench|tests/(?!layering_test\.cc$)))",
     R"(\b(class|struct|enum)\s+\w*(Manager|Context|Info|Helper|Utils?|Impl|Config|Handler)\b)",
     "runtime/engine.h", "class KernelManager {};\n"},
};

// The violations of `rule` in `sources`, as "path: what was found".
std::vector<std::string> Violations(const TextRule& rule, const std::vector<Source>& sources) {
  const std::regex where(rule.where);
  const std::regex forbidden(rule.forbidden);
  std::vector<std::string> found;
  for (const Source& source : sources) {
    std::smatch match;
    if (std::regex_search(source.path, where) && std::regex_search(source.text, match, forbidden)) {
      found.push_back(source.path + ": " + match.str());
    }
  }
  return found;
}

class TextRuleTest : public testing::TestWithParam<TextRule> {};

TEST_P(TextRuleTest, HoldsInTheTree) { EXPECT_THAT(Violations(GetParam(), Tree()), IsEmpty()); }

TEST_P(TextRuleTest, SeesAPlantedViolation) {
  const TextRule& rule = GetParam();
  const std::vector<Source> planted = {{"runtime/innocent.cc", "int answer = 42;\n"},
                                       {rule.planted_path, rule.planted_text}};
  EXPECT_EQ(Violations(rule, planted).size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(, TextRuleTest, testing::ValuesIn(kTextRules),
                         [](const auto& info) { return info.param.name; });

TEST(EnvironmentTest, OptionsMayReadIt) {
  EXPECT_THAT(Violations(kTextRules[0], {{"runtime/options.cc", "std::getenv(\"HOME\");"}}),
              IsEmpty());
}

// Rules about names.

// The entries of the top level that the design does not list.
std::vector<std::string> StrayEntries(std::vector<std::string> names) {
  static const std::regex allowed(
      R"(CMakeLists\.txt|CMakePresets\.json|README\.md|LICENSE|dev|cmake|build.*|\..*|)"
      R"(codegen|runtime|templates|cache|tests|bench)");
  names.erase(std::remove_if(names.begin(), names.end(),
                             [](const auto& name) { return std::regex_match(name, allowed); }),
              names.end());
  return names;
}

// The paths whose file name only says that something is in it.
std::vector<std::string> VagueNames(const std::vector<Source>& sources) {
  static const std::regex vague(R"((^|/|_)(utils?|helpers?|misc|common|stuff|manager)\w*\.\w+$)");
  std::vector<std::string> found;
  for (const Source& source : sources) {
    if (std::regex_search(source.path, vague)) found.push_back(source.path);
  }
  return found;
}

TEST(NamesTest, TopLevelHoldsWhatTheDesignLists) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(ONEPASS_SOURCE_DIR)) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(StrayEntries(names), IsEmpty());
}

TEST(NamesTest, StrayEntryIsSeen) {
  EXPECT_THAT(StrayEntries({"codegen", ".ci", "build-asan", "src"}), ElementsAre("src"));
}

TEST(NamesTest, NoFileIsNamedUtils) { EXPECT_THAT(VagueNames(Tree()), IsEmpty()); }

TEST(NamesTest, VagueNameIsSeen) {
  EXPECT_THAT(VagueNames({{"runtime/string_utils.h", ""}, {"codegen/plan.h", ""}}),
              ElementsAre("runtime/string_utils.h"));
}

TEST(TreeTest, IsThere) { EXPECT_GT(Tree().size(), 0u); }

}  // namespace
