#include "codegen/emit.h"

#include <algorithm>
#include <clocale>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "codegen/strategy.h"
#include "codegen/templates.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace onepass {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Golden {
  const char* file;
  const char* line;
  const char* strategy;
};

// What EmitSource itself writes, and which templates it takes in which order; the templates' own
// text is reviewed in templates/.
constexpr Golden kGoldens[] = {
    {"flat_relu_f32", "relu.fwd f32 1x64x56x56", "flat"},
    {"row_persistent_block_f32", "batch_norm.train f32 32x256x14x14 act=relu", "persistent_block"},
    {"row_multi_pass_f32", "batch_norm.train f32 32x64x112x112 act=relu", "multi_pass"},
    {"column_persistent_grid_f16", "batch_norm.train f16 32x64x56x56:nhwc residual act=relu",
     "persistent_grid"},
    {"column_multi_pass_f16", "batch_norm.train f16 32x64x56x56:nhwc act=relu", "multi_pass"},
    {"flat_infer_nchw_f16", "batch_norm.infer f16 8x64x56x56 act=relu6", "flat"},
    {"flat_infer_nhwc_bf16", "batch_norm.infer bf16 8x64x56x56:nhwc residual act=relu", "flat"},
    {"flat_gelu_erf_f64", "gelu_erf.fwd f64 4096x1000", "flat"},
    {"flat_softplus_f16", "pointwise.fwd f16 100 act=softplus:0.1:15", "flat"},
    {"row_persistent_block_ragged_f16", "batch_norm.train f16 32x512x7x7", "persistent_block"},
    {"row_persistent_block_f64", "batch_norm.train f64 4x64x28x28 affine=none", "persistent_block"},
    {"row_persistent_block_swish_bf16", "batch_norm.train bf16 32x240x14x14 act=swish",
     "persistent_block"},
    {"row_multi_pass_one_channel_f32", "batch_norm.train f32 140000x1", "multi_pass"},
    {"column_persistent_grid_narrow_f32", "batch_norm.train f32 32x3x56x56:nhwc affine=scale",
     "persistent_grid"},
    {"column_multi_pass_f64", "batch_norm.train f64 1024x35 param=f64", "multi_pass"},
    {"row_persistent_block_layer_norm_bf16", "layer_norm.fwd bf16 8192x4096 act=gelu_tanh",
     "persistent_block"},
    {"row_persistent_block_group_norm_f16", "group_norm.fwd f16 4x320x32x32 groups=32 act=swish",
     "persistent_block"},
    {"row_multi_pass_rms_norm_f32", "rms_norm.fwd f32 37x200000 save", "multi_pass"},
};

std::string SourceOf(const Golden& golden) {
  const absl::StatusOr<Problem> problem = ParseProblem(golden.line);
  EXPECT_TRUE(problem.ok()) << problem.status();
  const Key key = KeyOf(*problem, 16);
  const absl::StatusOr<Plan> plan = PlanFor(key, *FindDevice("h200"), golden.strategy);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return EmitSource(key, *plan).text;
}

const Golden& Named(absl::string_view file) {
  return *std::find_if(std::begin(kGoldens), std::end(kGoldens),
                       [&](const Golden& golden) { return golden.file == file; });
}

// Every template's text reduced to the line that names it.
std::string WithoutTemplates(const std::string& source) {
  size_t begin = source.size();
  for (int i = 0; i < kTemplateCount; ++i) {
    begin = std::min(begin, source.find(absl::StrCat("\n// ", kTemplates[i].name, "\n")));
  }
  ++begin;
  const size_t end = source.find('\n', source.rfind("}  // namespace onepass_kernel")) + 1;
  std::string text = source.substr(0, begin);
  for (absl::string_view line : absl::StrSplit(source.substr(begin, end - begin), '\n')) {
    const bool names = absl::StartsWith(line, "// ") && absl::EndsWith(line, ".cuh");
    if (names && !absl::StrContains(line.substr(3), ' ')) absl::StrAppend(&text, line, "\n");
  }
  return text + source.substr(end);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void ExpectGolden(const std::string& file, const std::string& text) {
  const std::string path = absl::StrCat(ONEPASS_SOURCE_DIR, "/tests/golden/", file, ".cu");
  if (ReadFile(path) == text) return;
  const std::string fresh = absl::StrCat(ONEPASS_BINARY_DIR, "/golden_", file, ".cu");
  std::ofstream(fresh) << text;
  ADD_FAILURE() << "the emitted source is not " << path << "\nif the change is meant: cp " << fresh
                << " " << path;
}

TEST(GoldenTest, SourcesAreAsReviewed) {
  for (const Golden& golden : kGoldens)
    ExpectGolden(golden.file, WithoutTemplates(SourceOf(golden)));
}

TEST(EmitTest, SameKeyAndPlanSameBytes) {
  for (const Golden& golden : kGoldens) EXPECT_EQ(SourceOf(golden), SourceOf(golden));
}

TEST(EmitTest, SourceIncludesNothing) {
  for (const Golden& golden : kGoldens) EXPECT_THAT(SourceOf(golden), Not(HasSubstr("#include")));
}

TEST(EmitTest, HeaderNamesKeyAndPlan) {
  const std::string source = SourceOf(Named("row_persistent_block_f32"));
  EXPECT_THAT(source, HasSubstr("// key: batch_norm.train f32 row"));
  EXPECT_THAT(source, HasSubstr("// plan: persistent_block threads="));
}

TEST(EmitTest, TemplatesAppearOnceAndOnlyWhereNeeded) {
  for (const Golden& golden : kGoldens) {
    const std::string source = SourceOf(golden);
    const std::vector<std::string> parts = absl::StrSplit(source, "\n// storage.cuh\n");
    EXPECT_EQ(parts.size(), 2) << golden.file;
  }
  EXPECT_THAT(SourceOf(Named("flat_relu_f32")), Not(HasSubstr("// held.cuh")));
}

TEST(EmitTest, ACommaLocaleChangesNothing) {
  const std::string before = SourceOf(Named("flat_softplus_f16"));
  // Whichever of them this system has.
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"})
    std::setlocale(LC_ALL, locale);
  EXPECT_EQ(SourceOf(Named("flat_softplus_f16")), before);
  std::setlocale(LC_ALL, "C");
  EXPECT_THAT(before, HasSubstr("kAlpha = 0x1.999999999999ap-4"));
}

}  // namespace
}  // namespace onepass
