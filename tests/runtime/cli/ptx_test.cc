// `onepass ptx` as a user runs it.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tests/runtime/cli/program_run.h"

namespace onepass::cli {
namespace {

using testing::HasSubstr;

// One section of tests/cases/sim/semantics.txt.
struct Section {
  std::vector<std::string> head;  // name, threads, input, output; or name, what
  std::string launch;
  std::string before;
  std::string body;
};

std::vector<Section> Sections() {
  std::vector<Section> sections;
  std::istringstream text(ReadText(ONEPASS_SOURCE_DIR "/tests/cases/sim/semantics.txt"));
  for (std::string line; std::getline(text, line);) {
    absl::string_view rest = line;
    if (absl::ConsumePrefix(&rest, "//// launch ")) {
      sections.back().launch = std::string(rest);
    } else if (absl::ConsumePrefix(&rest, "//// ")) {
      sections.emplace_back().head = absl::StrSplit(rest, ' ');
    } else if (line == "---") {
      std::swap(sections.back().before, sections.back().body);
    } else if (!sections.empty()) {
      absl::StrAppend(&sections.back().body, line, "\n");
    }
  }
  return sections;
}

std::string PtxOf(const Section& section) {
  return absl::StrCat(".version 9.0\n.target sm_90\n.address_size 64\n", section.before,
                      ".visible .entry k(.param .u64 in, .param .u64 out) ", section.launch,
                      "\n{\n.reg .pred %p<16>; .reg .b16 %h<32>; .reg .b32 %r<32>;\n"
                      ".reg .f32 %f<32>; .reg .b64 %d<32>; .reg .b64 %in, %out;\n"
                      "ld.param.u64 %in, [in]; ld.param.u64 %out, [out];\n",
                      section.body, "ret;\n}\n");
}

ProgramRun Execute(const std::string& ptx, const std::string& flags) {
  const TemporaryFolder folder;
  WriteText(folder / "k.ptx", ptx);
  return RunOnepass(absl::StrCat("ptx ", folder / "k.ptx", " ", flags));
}

TEST(PtxTest, EveryKernelOfTheSemanticsGivesItsBytes) {
  int rows = 0;
  for (const Section& section : Sections()) {
    SCOPED_TRACE(section.head[0]);
    ++rows;
    if (section.head[1] == "compile" || section.head[1] == "refused") {
      const ProgramRun run = Execute(PtxOf(section), "--arg in:0000000000000000 --arg out:64");
      EXPECT_EQ(run.exit_code, section.head[1] == "compile" ? 0 : 3) << run.err;
      continue;
    }
    const std::string& in = section.head[2];
    const std::string out = absl::StrCat("--arg out:", section.head[3].size() / 2);
    const ProgramRun run =
        Execute(PtxOf(section), absl::StrCat("--shared 1024 --block ", section.head[1], " ",
                                             in == "-" ? absl::StrCat(out, " --arg same:0")
                                                       : absl::StrCat("--arg in:", in, " ", out)));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out, section.head[3] + "\n");
  }
  EXPECT_GE(rows, 138);
}

// The table stands beside the checkout where the project keeps its cases.
TEST(PtxTest, TheSemanticsAreThoseOfTheTable) {
  const std::string table = ReadText(ONEPASS_SOURCE_DIR "/../shared/cases/ptx_semantics.tsv");
  if (table.empty()) GTEST_SKIP() << "no table beside the checkout";
  std::map<std::string, std::vector<std::string>> sections;
  for (Section& section : Sections()) sections[section.head[0]] = section.head;
  for (const absl::string_view line : absl::StrSplit(table, '\n')) {
    const std::vector<std::string> row = absl::StrSplit(line, '\t');
    if (row.size() < 14 || row[0] == "test") continue;
    const std::vector<std::string>& head = sections[row[0]];
    ASSERT_GE(head.size(), 2u) << row[0];
    if (row[1] == "compile-only" || row[12].empty()) {
      EXPECT_EQ(head.size(), 2u) << row[0];
      continue;
    }
    EXPECT_EQ(head,
              (std::vector<std::string>{row[0], row[5], row[9].empty() ? "-" : row[9], row[12]}));
  }
}

std::string OneKernel(const std::string& parameters, const std::string& body) {
  return absl::StrCat(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(",
                      parameters, ")\n{\n.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<9>;\n",
                      body, "\nret;\n}\n");
}

const char kStores[] = "ld.param.u64 %d0, [out]; ld.param.b32 %r0, [v]; st.u32 [%d0], %r0;";

TEST(PtxTest, ValuesOfEveryKind) {
  const std::string narrow = OneKernel(".param .b32 v, .param .u64 out", kStores);
  const auto value = [&](const std::string& text) {
    return Execute(narrow, absl::StrCat("--arg ", text, " --arg out:4")).out;
  };
  EXPECT_EQ(value("u32:258"), "02010000\n");
  EXPECT_EQ(value("u32:0x258"), "58020000\n");
  EXPECT_EQ(value("s32:-2"), "feffffff\n");
  EXPECT_EQ(value("f32:1.5"), "0000c03f\n");
  EXPECT_EQ(value("f32:-inf"), "000080ff\n");
  const std::string wide =
      OneKernel(".param .b64 v, .param .u64 out",
                "ld.param.u64 %d0, [out]; ld.param.b64 %d1, [v]; st.u64 [%d0], %d1;");
  EXPECT_EQ(Execute(wide, "--arg u64:1099511627776 --arg out:8").out, "0000000000010000\n");
  EXPECT_EQ(Execute(wide, "--arg f64:-2 --arg out:8").out, "00000000000000c0\n");
}

TEST(PtxTest, NpyFilesGoInAndOut) {
  const TemporaryFolder folder;
  const std::string header =
      "{'descr': '<u4', 'fortran_order': False, 'shape': (2, 1), }                               "
      "\n";
  const std::string file = std::string("\x93NUMPY\x01\x00", 8) +
                           std::string{static_cast<char>(header.size()), '\0'} + header;
  WriteText(folder / "in.npy", file + std::string("\1\0\0\0\2\0\0\0", 8));
  const std::string ptx =
      OneKernel(".param .u64 a", "ld.param.u64 %d0, [a]; ld.u32 %r0, [%d0+4]; st.u32 [%d0], %r0;");
  const ProgramRun run =
      Execute(ptx, absl::StrCat("--arg npy:", folder / "in.npy", " --save 0:", folder / "out.npy"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "");
  const std::string saved = ReadText(folder / "out.npy");
  EXPECT_THAT(saved, HasSubstr("'descr': '<u4', 'fortran_order': False, 'shape': (2, 1), }"));
  EXPECT_EQ(saved.substr(saved.size() - 8), std::string("\2\0\0\0\2\0\0\0", 8));
}

TEST(PtxTest, CountersFollowTheBuffers) {
  const ProgramRun run = Execute(OneKernel(".param .b32 v, .param .u64 out", kStores),
                                 "--counters --arg u32:1 --arg out:4");
  EXPECT_THAT(run.out, testing::StartsWith("01000000\n"));
  EXPECT_THAT(run.out, HasSubstr("warp_instructions="));
}

struct Refusal {
  const char* flags;
  int exit_code;
  const char* named;
};

TEST(PtxTest, WrongRequestsNameTheArgument) {
  const std::string ptx = OneKernel(".param .b32 v, .param .u64 out", kStores);
  const Refusal refusals[] = {
      {"--arg u32:1", 2, "--arg"},
      {"--arg u32:1 --arg out:4 --arg out:4", 2, "--arg"},
      {"--arg u64:1 --arg out:4", 2, "u64:1"},
      {"--arg out:4 --arg out:4", 2, "out:4"},
      {"--arg u32:x --arg out:4", 2, "u32:x"},
      {"--arg u33:1 --arg out:4", 2, "u33:1"},
      {"--arg u32:1 --arg in:123", 2, "in:123"},
      {"--arg u32:1 --arg same:0", 2, "same:0"},
      {"--arg u32:1 --arg same:9", 2, "same:9"},
      {"--arg u32:1 --arg npy:/nowhere.npy", 2, "/nowhere.npy"},
      {"--arg u32:1 --arg out:4 --entry q", 2, "--entry"},
      {"--arg u32:1 --arg out:4 --grid 0", 2, "--grid"},
      {"--arg u32:1 --arg out:4 --grid 1,1,1,1", 2, "--grid"},
      {"--arg u32:1 --arg out:4 --grid 1,70000", 2, "grid"},
      {"--arg u32:1 --arg out:4 --block 2048", 2, "block"},
      {"--arg u32:1 --arg out:4 --shared 999999", 2, "shared"},
      {"--arg u32:1 --arg out:4 --device sim:q", 2, "--device"},
      {"--arg u32:1 --arg out:4 --device cuda", 2, "--device"},
      {"--arg u32:1 --arg out:4 --device sim:a100", 3, ".target sm_90 does not run on a100, sm_80"},
      {"--arg u32:1 --arg out:4 --save 0:x.npy", 2, "--save"},
      {"--arg u32:1 --arg out:4 --save x", 2, "--save"},
      {"--arg u32:1 --arg out:2", 1, "argument 1"},
  };
  for (const Refusal& refusal : refusals) {
    const ProgramRun run = Execute(ptx, refusal.flags);
    EXPECT_EQ(run.exit_code, refusal.exit_code) << refusal.flags << ": " << run.err;
    EXPECT_THAT(run.err, HasSubstr(refusal.named)) << refusal.flags;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_EQ(run.out, "") << refusal.flags;
  }
}

TEST(PtxTest, WhatTheKernelDoesWrongIsExitOne) {
  EXPECT_EQ(Execute(OneKernel("", "trap;"), "").exit_code, 1);
  EXPECT_EQ(Execute(OneKernel("", "L: bra L;"), "--limit 100000").exit_code, 1);
  const ProgramRun waits = Execute(OneKernel("", "bar.sync 1, 64;"), "");
  EXPECT_EQ(waits.exit_code, 1);
  EXPECT_THAT(waits.err, HasSubstr("deadlock"));
}

TEST(PtxTest, WhatIsNoPtxAndWhatIsUnknown) {
  EXPECT_EQ(Execute("garbage", "").exit_code, 2);
  EXPECT_EQ(Execute("", "").exit_code, 2);
  EXPECT_EQ(RunOnepass("ptx").exit_code, 2);
  EXPECT_EQ(RunOnepass("ptx /nowhere.ptx").exit_code, 2);
  const ProgramRun unknown = Execute(OneKernel("", "wgmma.fence.sync.aligned;"), "");
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_THAT(unknown.err, HasSubstr("'wgmma.fence.sync.aligned' at PTX line 7"));
  const std::string two = OneKernel("", "") + ".visible .entry j() { ret; }\n";
  EXPECT_EQ(Execute(two, "").exit_code, 2);
  EXPECT_EQ(Execute(two, "--entry j").exit_code, 0);
  const std::string one_unknown =
      OneKernel("", "wgmma.fence.sync.aligned;") + ".visible .entry j() { ret; }\n";
  EXPECT_EQ(Execute(one_unknown, "--entry j").exit_code, 0);
  EXPECT_EQ(Execute(one_unknown, "--entry k").exit_code, 3);
}

TEST(PtxTest, ApproximateInstructionsErrAsTheSeedSays) {
  const std::string ptx =
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .f32 x, .param .u64 out) {\n"
      ".reg .f32 %f<3>; .reg .b64 %d<2>; ld.param.f32 %f1, [x]; ld.param.u64 %d1, [out];\n"
      "ex2.approx.f32 %f2, %f1; st.global.f32 [%d1], %f2; ret; }\n";
  const auto exp2_of_half = [&](const std::string& seed) {
    return Execute(ptx, absl::StrCat("--arg f32:0.5 --arg out:4 ", seed)).out;
  };
  EXPECT_EQ(exp2_of_half(""), "f304b53f\n");  // the root of two
  EXPECT_EQ(exp2_of_half("--approx-seed 1"), "f504b53f\n");
  EXPECT_EQ(exp2_of_half("--approx-seed 2"), "f104b53f\n");
  const ProgramRun wrong = Execute(ptx, "--arg f32:0.5 --arg out:4 --approx-seed much");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--approx-seed"));
}

}  // namespace
}  // namespace onepass::cli
