// Every wrong request: its exit code, one line that names the argument, nothing on standard output.
#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/cli/program_run.h"

namespace onepass::cli {
namespace {

struct BadInput {
  const char* name;
  const char* words;
  int exit_code;
  const char* named;  // stands in the message
};

void PrintTo(const BadInput& bad, std::ostream* out) { *out << bad.words; }

constexpr BadInput kBadInputs[] = {
    {"NoCommand", "", 2, "help"},
    {"UnknownCommand", "frobnicate", 2, "frobnicate"},
    {"PtxFileIsNotThere", "ptx /nowhere.ptx", 2, "/nowhere.ptx"},
    {"NoProblem", "run", 2, "problem"},
    {"UnknownFlag", "run relu.fwd f32 8 --frob", 2, "--frob"},
    {"FlagWithoutValue", "run relu.fwd f32 8 --seed", 2, "--seed"},
    {"SeedIsNoNumber", "run relu.fwd f32 8 --seed=x", 2, "--seed"},
    {"FlagGivenTwice", "run relu.fwd f32 8 --seed 1 --seed 2", 2, "--seed"},
    {"UnknownStrategyForNothing", "run relu.fwd f32 0 --device sim:h200 --strategy magic", 2,
     "magic"},
    {"DataIsUnknown", "run relu.fwd f32 8 --data=zipf:1", 2, "--data"},
    {"UnknownOperator", "run conv.fwd f32 8x8", 2, "conv.fwd"},
    {"UnknownType", "run relu.fwd f8 8x8", 2, "f8"},
    {"NegativeExtent", "run relu.fwd f32 -- 8x-8", 2, "8x-8"},
    {"ExtentIsNoNumber", "run relu.fwd f32 8xq", 2, "8xq"},
    {"OverflowingSizes", "run relu.fwd f32 4294967296x4294967296", 2, "4294967296"},
    {"NegativeEps", "run batch_norm.infer f32 2x3x4x4 eps=-1", 2, "eps"},
    {"EpsIsNan", "run batch_norm.infer f32 2x3x4x4 eps=nan", 2, "eps"},
    {"UnknownLayout", "run batch_norm.infer f32 2x3x4x4:ncwh", 2, "ncwh"},
    {"RankTheLayoutDoesNotKnow", "run relu.fwd f32 8:nhwc", 2, "nhwc"},
    {"GroupsThatDoNotDivide", "run group_norm.fwd f32 2x6x4x4 groups=4", 2, "groups"},
    {"UnknownDevice", "run relu.fwd f32 8 --device sim:gtx480", 2, "gtx480"},
    {"UnknownStrategy", "run relu.fwd f32 8 --device sim:h200 --strategy magic", 2, "magic"},
    {"InIsNoFolder", "run relu.fwd f32 8 --device sim:h200 --in /nowhere", 2, "/nowhere"},
    {"OutCannotBeMade", "run relu.fwd f32 8 --device sim:h200 --out /dev/null/x", 2, "/dev/null/x"},
    {"NoDriver", "run relu.fwd f32 8 --device cuda:7", 4, "cuda"},
    {"BatchWithoutFile", "batch", 2, "FILE"},
    {"BatchFileIsNotThere", "batch /nowhere/cases.txt", 2, "/nowhere/cases.txt"},
    {"BatchWithNoJobs", "batch - --jobs 0", 2, "--jobs"},
    {"ExplainWithoutProblem", "explain", 2, "problem"},
    {"ExplainWrongProblem", "explain relu.fwd f32", 2, "f32"},
    {"EmitWithoutKind", "emit relu.fwd f32 8", 2, "--as"},
    {"EmitUnknownArch", "emit relu.fwd f32 8 --as cuda --arch sm_75", 2, "sm_75"},
    {"EmitForTwoDevices", "emit relu.fwd f32 8 --as cuda --arch sm_90 --device sim:a100", 2,
     "--arch"},
    {"EmitNothing", "emit relu.fwd f32 0 --as cuda", 3, "empty"},
    {"AlignOfZero", "run relu.fwd f32 8 align=0", 2, "align"},
    {"NegativeSpread", "run relu.fwd f32 8 --data normal:0,-1", 2, "--data: STD is -1"},
    {"StrategyOfNoName", "run relu.fwd f32 8 --strategy foo", 2, "flat, persistent_block"},
    {"CacheWithoutVerb", "cache", 2, "stats"},
    {"CacheUnknownVerb", "cache defrag", 2, "defrag"},
    {"CacheFlag", "cache stats --all", 2, "--all"},
    {"CacheExportWithoutFile", "cache export", 2, "FILE"},
    {"CacheExportIntoNothing", "cache export /nowhere/a", 2, "/nowhere/a"},
    {"CacheImportOfNothing", "cache import /nowhere/a", 2, "/nowhere/a"},
    {"CacheImportOfNoArchive", "cache import /etc/passwd", 2, "/etc/passwd"},
    {"CacheStatsWithWords", "cache stats x", 2, "cache stats takes no words"},
    {"OnnxWithoutModel", "onnx", 2, "MODEL"},
    {"OnnxModelIsNotThere", "onnx /nowhere/m.onnx", 2, "/nowhere/m.onnx"},
    {"OnnxModelIsNone", "onnx /etc/passwd", 2, "/etc/passwd"},
    {"VersionWithWords", "version 2", 2, "version"},
};

class BadInputTest : public testing::TestWithParam<BadInput> {};

TEST_P(BadInputTest, GivesItsExitCodeAndOneLine) {
  const ProgramRun run = RunOnepass(GetParam().words);
  EXPECT_EQ(run.exit_code, GetParam().exit_code) << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_THAT(run.err, testing::StartsWith("onepass: "));
  EXPECT_THAT(run.err, testing::HasSubstr(GetParam().named));
}

INSTANTIATE_TEST_SUITE_P(, BadInputTest, testing::ValuesIn(kBadInputs),
                         [](const auto& info) { return info.param.name; });

TEST(BadNpyTest, ShapeAndTypeAreNamedAndNothingIsWritten) {
  const TemporaryFolder folder;
  ASSERT_EQ(RunOnepass("run relu.fwd f32 8x16 --device sim:h200 --out " + (folder / "a")).exit_code,
            0);
  for (const std::string problem : {"relu.fwd f32 16x8", "relu.fwd f16 8x16"}) {
    const ProgramRun run = RunOnepass("run " + problem + " --device sim:h200 --in " +
                                      (folder / "a") + " --out " + (folder / "b"));
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_THAT(run.err, testing::HasSubstr("x.npy"));
    EXPECT_THAT(run.err, testing::HasSubstr("found <f4 (8,16)"));
    EXPECT_FALSE(std::filesystem::exists(folder / "b"));
  }
}

TEST(BadNpyTest, LinkThatLeadsNowhereIsNamed) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("gone", folder / "x.npy");
  const ProgramRun run = RunOnepass("run relu.fwd f32 8 --device sim:h200 --in " + folder.path());
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, testing::HasSubstr(folder / "x.npy"));
}

TEST(BadModelTest, CutShortIsOneLine) {
  const TemporaryFolder folder;
  const std::string whole = ReadText("/usr/share/libonnx-testdata/data/node/test_relu/model.onnx");
  ASSERT_FALSE(whole.empty()) << "libonnx-testdata is not installed";
  WriteText(folder / "m.onnx", whole.substr(0, whole.size() / 2));
  const ProgramRun run = RunOnepass("onnx " + (folder / "m.onnx"));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_EQ(run.out, "");
}

TEST(FullDiskTest, IsNoticed) { EXPECT_EQ(RunOnepass("version >/dev/full").exit_code, 6); }

}  // namespace
}  // namespace onepass::cli
