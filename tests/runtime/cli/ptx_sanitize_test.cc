// The README's pages on running any PTX and on finding a race, as they say it goes.
#include <gmock/gmock.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/nvrtc.h"
#include "runtime/options.h"
#include "tests/runtime/cli/program_run.h"

namespace onepass::cli {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;

// The program between "$ cat NAME.cu" and the next command.
std::string SourceInReadme(const std::string& name = "sum") {
  std::string source;
  bool inside = false;
  for (absl::string_view line : absl::StrSplit(ReadText(ONEPASS_SOURCE_DIR "/README.md"), '\n')) {
    if (inside && absl::StartsWith(line, "    $ ")) break;
    if (inside && absl::ConsumePrefix(&line, "    ")) absl::StrAppend(&source, line, "\n");
    inside |= line == absl::StrCat("    $ cat ", name, ".cu");
  }
  return source;
}

std::string Compiled(const std::string& source) {
  const auto nvrtc = Nvrtc::Load(OptionsFromEnvironment().toolkit);
  EXPECT_TRUE(nvrtc.ok()) << nvrtc.status();
  if (!nvrtc.ok()) return "";
  const auto binary = (*nvrtc)->Compile(
      Source{.text = source, .kernels = {absl::StrContains(source, "mean(") ? "mean" : "sum"}},
      "compute_90", {"--generate-line-info"});
  EXPECT_TRUE(binary.ok()) << binary.status();
  return binary.ok() ? binary->ptx : "";
}

ProgramRun Execute(const std::string& ptx, const std::string& flags) {
  const TemporaryFolder folder;
  WriteText(folder / "sum.ptx", ptx);
  return RunOnepass(absl::StrCat("ptx ", folder / "sum.ptx", " --block 128 --arg out:4 ", flags));
}

// Every command of the page with what stands below it, but for lines of PTX, which are nvcc's.
TEST(PtxReadmeTest, CommandsPrintWhatThePageSays) {
  const TemporaryFolder folder;
  WriteText(folder / "mean.ptx", Compiled(SourceInReadme("mean")));
  std::string npy("\x93NUMPY\x01\x00\x76\x00", 10);
  npy += "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 100), }";
  npy.resize(127, ' ');
  npy += '\n';
  for (int i = 0; i < 400; ++i) {
    const auto value = static_cast<float>(i);
    npy.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  WriteText(folder / "x.npy", npy);
  int commands = 0;
  std::string command;
  const std::string readme = ReadText(ONEPASS_SOURCE_DIR "/README.md");
  for (absl::string_view line : absl::StrSplit(readme, '\n')) {
    if (absl::ConsumePrefix(&line, "    $ onepass ptx mean.ptx ")) {
      command = absl::StrCat("ptx ", folder / "mean.ptx", " ", line);
      command = absl::StrReplaceAll(command, {{"npy:x.npy", "npy:" + folder / "x.npy"}});
      continue;
    }
    if (command.empty()) continue;
    ++commands;
    const ProgramRun run = RunOnepass(command);
    command.clear();
    absl::ConsumePrefix(&line, "    ");
    const std::string says(line.substr(0, line.find(" at PTX line")));
    EXPECT_THAT(run.out + run.err, testing::StartsWith(says));
    EXPECT_EQ(run.exit_code == 0, !absl::StartsWith(says, "onepass: ")) << says;
  }
  EXPECT_EQ(commands, 4);
}

TEST(PtxSanitizeTest, TheRaceOfTheReadmeIsNamedWithBothItsSides) {
  const std::string ptx = Compiled(SourceInReadme());
  const ProgramRun plain = Execute(ptx, "");
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(plain.out, "c01f0000\n");
  const ProgramRun checked = Execute(ptx, "--sanitize");
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_EQ(checked.out, "c01f0000\n");
  const std::vector<std::string> lines = absl::StrSplit(checked.err, '\n', absl::SkipEmpty());
  EXPECT_THAT(lines, AllOf(SizeIs(3), Each(HasSubstr("race in shared memory sum::sums[")),
                           Each(HasSubstr("write by block (0,0,0) thread (")),
                           Each(HasSubstr("(sum.cu:5) and read by block (0,0,0) thread (127,0,0)")),
                           Each(HasSubstr("(sum.cu:7)"))));
  EXPECT_NE(Execute(ptx, "--seed 1").out, "c01f0000\n");
}

TEST(PtxSanitizeTest, TheMendedKernelIsRightForEverySeedAndNotReported) {
  const std::string ptx =
      Compiled(absl::StrReplaceAll(SourceInReadme(), {{"__syncwarp", "__syncthreads"}}));
  for (int seed = 0; seed < 8; ++seed) {
    const ProgramRun run = Execute(ptx, absl::StrCat("--sanitize --seed ", seed));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out, "c01f0000\n");
  }
}

}  // namespace
}  // namespace onepass::cli
