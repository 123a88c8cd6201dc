// What a script can rely on, seen from outside: every command on a small problem.
#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/runtime/cli/program_run.h"

namespace onepass::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr char kRelu[] = "relu.fwd f32 8x16";

// A cache of the test's own, and a simulated device whatever the machine has.
class CommandsTest : public testing::Test {
 protected:
  ProgramRun Onepass(const std::string& words, const std::string& variables = "") const {
    return RunOnepass(words, "ONEPASS_DEVICE=sim:h200 ONEPASS_CACHE_DIR=" + (folder_ / "cache") +
                                 " " + variables);
  }

  json RunJson(const std::string& words) const {
    const ProgramRun run = Onepass(words + " --json");
    EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 1) << run.out;
    json parsed = json::parse(run.out, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << run.out;
    EXPECT_EQ(parsed["exit"], run.exit_code);
    return parsed;
  }

  std::vector<json> BatchJson(const std::string& lines, const std::string& flags,
                              int* exit_code) const {
    WriteText(folder_ / "cases.txt", lines);
    const ProgramRun run = Onepass("batch " + (folder_ / "cases.txt") + " --json " + flags);
    *exit_code = run.exit_code;
    std::vector<json> parsed;
    for (size_t begin = 0; begin < run.out.size();) {
      const size_t end = run.out.find('\n', begin);
      parsed.push_back(json::parse(run.out.substr(begin, end - begin)));
      begin = end + 1;
    }
    return parsed;
  }

  TemporaryFolder folder_;
};

std::vector<std::string> Keys(const json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST_F(CommandsTest, RunReportsWhatTheContractLists) {
  const json report = RunJson(std::string("run ") + kRelu);
  EXPECT_THAT(Keys(report), testing::UnorderedElementsAre(
                                "problem", "ok", "exit", "error", "device", "plan", "cache", "time",
                                "traffic", "bound", "check", "sanitizer"));
  EXPECT_EQ(report["problem"], "pointwise.fwd f32 8x16 act=relu");
  EXPECT_EQ(report["ok"], true);
  EXPECT_EQ(report["exit"], 0);
  EXPECT_TRUE(report["error"].is_null());
  EXPECT_EQ(report["device"],
            json::parse(R"({"name":"sim:h200","arch":"sm_90","simulated":true})"));
  EXPECT_EQ(report["plan"]["strategy"], "flat");
  EXPECT_EQ(report["plan"]["geometry"], "flat");
  EXPECT_EQ(report["plan"]["launches"].size(), 1u);
  EXPECT_EQ(report["plan"]["launches"][0]["spill_bytes"], 0);
  EXPECT_GT(report["plan"]["launches"][0]["registers"], 0);
  EXPECT_EQ(report["cache"], "miss");
  EXPECT_GT(report["time"]["compile_ms"], 0);
  EXPECT_TRUE(report["time"]["launch_us"].is_null());
  EXPECT_EQ(report["traffic"]["minimum_bytes"], 2 * 8 * 16 * 4);
  EXPECT_EQ(report["traffic"]["sector_efficiency"], 1.0);
  EXPECT_GT(report["bound"]["pipe_us"], 0.0);
  EXPECT_GT(report["bound"]["bytes_in_flight_per_sm"], 0);
  EXPECT_EQ(report["check"]["ok"], true);
  EXPECT_EQ(report["check"]["outputs"]["y"]["max_abs_error"], 0.0);
  EXPECT_EQ(report["sanitizer"], json::parse(R"({"enabled":false,"findings":[]})"));
}

TEST_F(CommandsTest, SecondProcessFindsTheKernelOnDisk) {
  EXPECT_EQ(RunJson(std::string("run ") + kRelu)["cache"], "miss");
  const json second = RunJson(std::string("run ") + kRelu);
  EXPECT_EQ(second["cache"], "disk");
  EXPECT_EQ(second["time"]["compile_ms"], 0.0);
  EXPECT_EQ(RunJson(std::string("run --no-cache ") + kRelu)["cache"], "off");
}

TEST_F(CommandsTest, OutputsGoBackInAsInputs) {
  const std::string problem = "batch_norm.train f16 2x4x3x5:nhwc residual act=relu";
  EXPECT_EQ(RunJson("run " + problem + " --seed 3 --out " + (folder_ / "a"))["ok"], true);
  EXPECT_EQ(RunJson("run " + problem + " --seed 4 --in " + (folder_ / "a") + " --out " +
                    (folder_ / "b"))["ok"],
            true);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "a")) {
    ++files;
    EXPECT_EQ(ReadText(entry.path()), ReadText(folder_ / "b/" + entry.path().filename().string()))
        << entry.path();
  }
  EXPECT_EQ(files, 11);
}

TEST_F(CommandsTest, SeedDecidesTheInputs) {
  for (const char* seed : {"1", "2"}) {
    Onepass(std::string("run ") + kRelu + " --seed " + seed + " --out " + (folder_ / seed));
  }
  EXPECT_NE(ReadText(folder_ / "1/x.npy"), ReadText(folder_ / "2/x.npy"));
}

TEST_F(CommandsTest, WithoutCheckThereIsNone) {
  const json report = RunJson(std::string("run --no-check ") + kRelu);
  EXPECT_TRUE(report["check"].is_null());
  EXPECT_EQ(report["ok"], true);
}

TEST_F(CommandsTest, EmptyTensorsLaunchNothing) {
  for (const std::string problem : {"relu.fwd f32 0x16", "batch_norm.train f32 0x3x4x4"}) {
    const json report = RunJson("run " + problem + " --out " + (folder_ / "e"));
    EXPECT_EQ(report["ok"], true) << report;
    EXPECT_EQ(report["cache"], "none");
    EXPECT_TRUE(report["plan"].is_null());
    EXPECT_THAT(ReadText(folder_ / "e/y.npy"), HasSubstr("(0, "));
  }
}

TEST_F(CommandsTest, ForcedStrategyThatRefusesSaysWhy) {
  const json report = RunJson(std::string("run --strategy multi_pass ") + kRelu);
  EXPECT_EQ(report["exit"], 3);
  EXPECT_THAT(report["error"].get<std::string>(), HasSubstr("multi_pass"));
  EXPECT_EQ(report["device"]["name"], "sim:h200");
}

TEST_F(CommandsTest, WrongLineIsReportedAsItCame) {
  const json report = RunJson("run relu.fwd f32 8y16");
  EXPECT_EQ(report["problem"], "relu.fwd f32 8y16");
  EXPECT_EQ(report["exit"], 2);
  for (const char* key : {"device", "plan", "cache", "time", "traffic", "bound", "check"}) {
    EXPECT_TRUE(report[key].is_null()) << key;
  }
}

TEST_F(CommandsTest, MoreMemoryThanThereIsIsRefusedBeforeAnythingIsMade) {
  const ProgramRun run = Onepass("run relu.fwd f32 1000000x1000000");
  EXPECT_EQ(run.exit_code, 6);
  EXPECT_THAT(run.err, HasSubstr("8000.0 GB"));
}

TEST_F(CommandsTest, TextIsForPeople) {
  const ProgramRun run = Onepass(std::string("run ") + kRelu);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, HasSubstr("sim:h200"));
  EXPECT_THAT(run.out, HasSubstr("all right"));
}

TEST_F(CommandsTest, BatchKeepsTheFilesOrderAndEndsWithASummary) {
  int exit_code = -1;
  std::string lines = "# comment\n\n";
  for (int i = 1; i <= 8; ++i) lines += "relu.fwd f32 " + std::to_string(i * 100) + "\n";
  const auto objects = BatchJson(lines, "--jobs 4", &exit_code);
  ASSERT_EQ(objects.size(), 9u);
  EXPECT_EQ(exit_code, 0);
  for (int i = 1; i <= 8; ++i) {
    EXPECT_EQ(objects[i - 1]["problem"],
              "pointwise.fwd f32 " + std::to_string(i * 100) + " act=relu");
  }
  const json& summary = objects[8]["summary"];
  EXPECT_EQ(summary["cases"], 8);
  EXPECT_EQ(summary["exits"], json::parse(R"({"0": 8})"));
  EXPECT_EQ(summary["operators"]["pointwise.fwd"]["count"], 8);
}

TEST_F(CommandsTest, BatchGoesOnAfterAWrongLineAndEndsWithTheWorst) {
  int exit_code = -1;
  const auto objects =
      BatchJson("nonsense\nrelu.fwd f32 8\nlayer_norm.grad f32 4x8\n", "", &exit_code);
  ASSERT_EQ(objects.size(), 4u);
  EXPECT_EQ(exit_code, 3);
  EXPECT_EQ(objects[0]["problem"], "nonsense");
  EXPECT_EQ(objects[0]["exit"], 2);
  EXPECT_EQ(objects[1]["ok"], true);
  EXPECT_EQ(objects[2]["exit"], 3);
  EXPECT_EQ(objects[3]["summary"]["exits"], json::parse(R"({"0": 1, "2": 1, "3": 1})"));
}

// Sanitizers need more address space than this leaves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(CommandsTest, BatchMakesDoWithTheThreadsThereAre) {
  std::string lines;
  for (int i = 0; i < 3000; ++i) lines += "relu.fwd f32 0\n";
  WriteText(folder_ / "cases.txt", lines);
  const ProgramRun run = Onepass("version; ulimit -v 2000000; " ONEPASS_BINARY_DIR
                                 "/onepass batch --jobs 3000 --device sim:h200 --no-cache " +
                                 (folder_ / "cases.txt"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("3000 cases"));
}
#endif

TEST_F(CommandsTest, BatchReadsStandardInput) {
  WriteText(folder_ / "cases.txt", kRelu);
  const ProgramRun run = Onepass("batch - --json <" + (folder_ / "cases.txt"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 2);
}

TEST_F(CommandsTest, BatchKeepsEachLinesFilesApart) {
  int exit_code = -1;
  BatchJson("relu.fwd f32 8\nrelu.fwd f32 9\n", "--out " + (folder_ / "o"), &exit_code);
  EXPECT_EQ(exit_code, 0);
  EXPECT_THAT(ReadText(folder_ / "o/1/y.npy"), HasSubstr("(8,)"));
  EXPECT_THAT(ReadText(folder_ / "o/2/y.npy"), HasSubstr("(9,)"));
}

TEST_F(CommandsTest, SecondLineOfABatchFindsTheKernelLoaded) {
  int exit_code = -1;
  const auto objects = BatchJson("relu.fwd f32 8x16\nrelu.fwd f32 8x16\n", "--jobs 1", &exit_code);
  EXPECT_EQ(objects[0]["cache"], "miss");
  EXPECT_EQ(objects[1]["cache"], "memory");
}

TEST_F(CommandsTest, ExplainMarksTheChoiceAndSaysWhyNot) {
  const ProgramRun run = Onepass("explain batch_norm.train f32 32x64x28x28");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("-> "));
  EXPECT_THAT(run.out, HasSubstr("refused: "));
  EXPECT_THAT(run.out, HasSubstr("multi_pass"));
  const json explained =
      json::parse(Onepass("explain --json batch_norm.train f32 32x64x28x28").out);
  int chosen = 0;
  for (const json& row : explained["strategies"]) {
    chosen += row["chosen"].get<bool>() ? 1 : 0;
    EXPECT_EQ(row["accepted"].get<bool>(), !row["plans"].empty()) << row;
    EXPECT_EQ(row["accepted"].get<bool>(), row["reason"].is_null()) << row;
  }
  EXPECT_EQ(chosen, 1);
}

TEST_F(CommandsTest, EmitWritesSourcePtxAndMachineCode) {
  const ProgramRun source = Onepass(std::string("emit --as cuda ") + kRelu);
  EXPECT_EQ(source.exit_code, 0) << source.err;
  EXPECT_THAT(source.out, HasSubstr("__global__"));
  const ProgramRun ptx = Onepass(std::string("emit --as ptx --arch sm_80 ") + kRelu);
  EXPECT_THAT(ptx.out, HasSubstr(".target sm_80"));
  const ProgramRun cubin = Onepass(std::string("emit --as cubin --arch=sm_100 -o ") +
                                   (folder_ / "k.cubin") + " " + kRelu);
  EXPECT_EQ(cubin.exit_code, 0) << cubin.err;
  EXPECT_EQ(ReadText(folder_ / "k.cubin").substr(0, 4),
            "\x7f"
            "ELF");
}

TEST_F(CommandsTest, CacheCommandsSeeWhatRunsLeave) {
  Onepass(std::string("run ") + kRelu);
  EXPECT_THAT(Onepass("cache stats").out, HasSubstr("entries  1\n"));
  const ProgramRun list = Onepass("cache list");
  EXPECT_EQ(std::count(list.out.begin(), list.out.end(), '\n'), 1);
  EXPECT_EQ(Onepass("cache verify").exit_code, 0);
  EXPECT_THAT(Onepass("cache clear").out, HasSubstr("removed  1\n"));
  EXPECT_THAT(Onepass("cache stats").out, HasSubstr("entries  0\n"));
}

TEST_F(CommandsTest, DamagedEntryIsFoundAndRebuilt) {
  Onepass(std::string("run ") + kRelu);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "cache")) {
    if (!entry.is_regular_file()) continue;
    std::string bytes = ReadText(entry.path());
    bytes[bytes.size() / 2] ^= 1;
    WriteText(entry.path(), bytes);
  }
  const ProgramRun verify = Onepass("cache verify");
  EXPECT_EQ(verify.exit_code, 1);
  EXPECT_THAT(verify.out, HasSubstr("damaged  1"));
  EXPECT_EQ(RunJson(std::string("run ") + kRelu)["cache"], "miss");
  EXPECT_EQ(RunJson(std::string("run ") + kRelu)["cache"], "disk");
}

TEST_F(CommandsTest, CacheGcShrinksToTheLimitAndSaysWhatItRemoved) {
  for (const char* n : {"8", "16"}) Onepass(std::string("run relu.fwd f32 ") + n);
  Onepass("run relu.fwd f16 8");
  EXPECT_THAT(Onepass("cache stats").out, HasSubstr("entries  2\n")) << "sizes share a kernel";
  for (const auto& shard : std::filesystem::directory_iterator(folder_ / "cache")) {
    WriteText(shard.path() / ".new-killed", "half");
  }
  const ProgramRun nothing = Onepass("cache gc");
  EXPECT_EQ(nothing.exit_code, 0) << nothing.err;
  EXPECT_THAT(nothing.out, HasSubstr("leftover 2\nevicted  0\nfreed    8 "));
  const ProgramRun all = Onepass("cache gc", "ONEPASS_CACHE_LIMIT=10");
  EXPECT_THAT(all.out, HasSubstr("evicted  2\n"));
  EXPECT_THAT(all.out, HasSubstr("entries  0\n"));
}

TEST_F(CommandsTest, ArchiveCarriesTheCacheToAnotherFolder) {
  Onepass(std::string("run ") + kRelu);
  const std::string archive = folder_ / "kernels",
                    elsewhere = "ONEPASS_CACHE_DIR=" + (folder_ / "b");
  EXPECT_THAT(Onepass("cache export " + archive).out, HasSubstr("exported 1\nskipped  0\n"));
  const ProgramRun import = Onepass("cache import " + archive, elsewhere);
  EXPECT_EQ(import.exit_code, 0) << import.err;
  EXPECT_THAT(import.out, HasSubstr("imported 1\nrefused  0\n"));
  EXPECT_THAT(Onepass(std::string("run --json ") + kRelu, elsewhere).out,
              HasSubstr("\"cache\":\"disk\""));
}

TEST_F(CommandsTest, ExportLeavesOutWhatIsDamaged) {
  Onepass(std::string("run ") + kRelu);
  Onepass("run relu.fwd f16 8");
  const auto first = *std::filesystem::directory_iterator(
      std::filesystem::directory_iterator(folder_ / "cache")->path());
  WriteText(first.path(), "damaged");
  const ProgramRun run = Onepass("cache export " + (folder_ / "kernels"));
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, HasSubstr("exported 1\nskipped  1\n"));
}

TEST_F(CommandsTest, AlteredOrTruncatedArchiveIsRefusedForWhatIsBad) {
  Onepass(std::string("run ") + kRelu);
  Onepass("run relu.fwd f16 8");
  Onepass("cache export " + (folder_ / "kernels"));
  const std::string whole = ReadText(folder_ / "kernels");
  const std::string elsewhere = "ONEPASS_CACHE_DIR=" + (folder_ / "b");
  std::string altered = whole;
  altered[1000] ^= 1;
  for (const auto& [bytes, said] : std::vector<std::pair<std::string, std::string>>{
           {altered, "1 entries are damaged or missing"},
           {whole.substr(0, whole.size() - 100), "cut short"}}) {
    WriteText(folder_ / "bad", bytes);
    const ProgramRun run = Onepass("cache import " + (folder_ / "bad"), elsewhere);
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.out, HasSubstr("imported 1\nrefused  1\n"));
    EXPECT_THAT(run.err, HasSubstr(said));
    EXPECT_EQ(Onepass("cache verify", elsewhere).exit_code, 0);
  }
}

TEST_F(CommandsTest, ArchiveMayGoThroughAPipe) {
  Onepass(std::string("run ") + kRelu);
  const ProgramRun run = Onepass("cache export /dev/stdout | ONEPASS_CACHE_DIR=" + (folder_ / "b") +
                                 " " ONEPASS_BINARY_DIR "/onepass cache import /dev/stdin");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("imported 1\n"));
}

TEST_F(CommandsTest, VerifyFindsWrongNamesAndWhatIsNoFile) {
  Onepass(std::string("run ") + kRelu);
  const auto shard = std::filesystem::directory_iterator(folder_ / "cache")->path();
  const auto entry = std::filesystem::directory_iterator(shard)->path();
  std::filesystem::copy(entry, shard / (std::string(62, 'a') + ".e1"));
  std::filesystem::create_directory(shard / (std::string(62, 'b') + ".e1"));
  std::filesystem::create_symlink(entry, shard / (std::string(62, 'c') + ".e1"));
  const ProgramRun verify = Onepass("cache verify");
  EXPECT_EQ(verify.exit_code, 1);
  EXPECT_THAT(verify.out, HasSubstr("good     1\ndamaged  0\nmisnamed 1\nno file  2\n"));
  EXPECT_THAT(verify.out, HasSubstr(std::string(62, 'b') + ".e1: is no file"));
  EXPECT_EQ(Onepass("cache gc").exit_code, 0);
  EXPECT_EQ(Onepass("cache verify").exit_code, 0);
}

TEST_F(CommandsTest, BatchCountsDamagedEntries) {
  Onepass(std::string("run ") + kRelu);
  const auto shard = std::filesystem::directory_iterator(folder_ / "cache")->path();
  WriteText(std::filesystem::directory_iterator(shard)->path(), "damaged");
  int exit_code = -1;
  const auto objects = BatchJson(std::string(kRelu) + "\n", "", &exit_code);
  EXPECT_EQ(exit_code, 0);
  EXPECT_EQ(objects.back()["summary"]["damaged_entries_rebuilt"], 1);
  EXPECT_EQ(BatchJson(std::string(kRelu) + "\n", "", &exit_code)
                .back()["summary"]["damaged_entries_rebuilt"],
            0);
}

TEST_F(CommandsTest, FlagErrorsOfRunAreJsonToo) {
  for (const std::string flags : {"--seed=x", "--seed 1 --seed 2", "--frob", "--data=zipf"}) {
    const json report = RunJson(std::string("run ") + kRelu + " " + flags);
    EXPECT_EQ(report["exit"], 2) << flags;
    EXPECT_EQ(report["ok"], false);
    EXPECT_THAT(report["error"].get<std::string>(),
                HasSubstr(flags.substr(0, flags.find_first_of("= "))));
    for (const char* key : {"device", "plan", "cache", "time", "traffic", "bound", "check"}) {
      EXPECT_TRUE(report[key].is_null()) << key;
    }
  }
  EXPECT_EQ(RunJson("run")["exit"], 2);
}

TEST_F(CommandsTest, WrongVariablesAreOneWarningEach) {
  const ProgramRun run =
      Onepass("cache stats", "ONEPASS_CACHE_LIMIT=1G CUDA_HOME=/no/such/toolkit ONEPASS_LOG=loud");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 3) << run.err;
  for (const char* named :
       {"ONEPASS_CACHE_LIMIT: '1G'", "CUDA_HOME: '/no/such/toolkit'", "ONEPASS_LOG: 'loud'"}) {
    EXPECT_THAT(run.err, HasSubstr(named));
  }
  EXPECT_EQ(Onepass("cache stats", "CUDA_HOME=/no/such/toolkit ONEPASS_LOG=error").err, "");
}

TEST_F(CommandsTest, UnknownDeviceOfTheEnvironmentIsAWrongRequest) {
  for (const std::string& words : {std::string("run ") + kRelu, std::string("explain ") + kRelu,
                                   std::string("emit --as cuda ") + kRelu, std::string("doctor")}) {
    const ProgramRun run = Onepass(words, "ONEPASS_DEVICE=sim:gtx480");
    EXPECT_EQ(run.exit_code, 2) << words;
    EXPECT_THAT(run.err, HasSubstr("ONEPASS_DEVICE: there is no \"sim:gtx480\"")) << words;
  }
}

TEST_F(CommandsTest, UnusableCacheFolderIsOneWarning) {
  const ProgramRun run = RunOnepass(std::string("run ") + kRelu,
                                    "ONEPASS_DEVICE=sim:h200 ONEPASS_CACHE_DIR=/dev/null/x");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_THAT(run.err, HasSubstr("warning"));
}

TEST_F(CommandsTest, DoctorAndVersionAndHelpAnswer) {
  const ProgramRun doctor = Onepass("doctor");
  EXPECT_EQ(doctor.exit_code, 0) << doctor.err;
  for (const char* row : {"NVRTC", "GPU", "sim:b200", "cache", "ONNX"}) {
    EXPECT_THAT(doctor.out, HasSubstr(row));
  }
  EXPECT_THAT(Onepass("version").out, testing::StartsWith("onepass "));
  EXPECT_THAT(Onepass("help").out, HasSubstr("batch"));
  EXPECT_THAT(Onepass("run --help").out, HasSubstr("--sanitize"));
}

}  // namespace
}  // namespace onepass::cli
