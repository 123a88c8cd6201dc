#include "codegen/key.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "codegen/validate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace onepass {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Problem Parsed(absl::string_view line) {
  absl::StatusOr<Problem> problem = ParseProblem(line);
  EXPECT_TRUE(problem.ok()) << problem.status();
  EXPECT_TRUE(Validate(*problem).ok()) << Validate(*problem);
  return *problem;
}

Key KeyOfLine(absl::string_view line, int alignment = 16) { return KeyOf(Parsed(line), alignment); }

TEST(SizeClassTest, CoversEveryCountWithinAQuarter) {
  for (int64_t count = 1; count < 5000; ++count) {
    EXPECT_GE(SizeClass(count), count);
    EXPECT_LE(SizeClass(count), count + count / 4);
    EXPECT_EQ(SizeClass(SizeClass(count)), SizeClass(count));
  }
}

TEST(SizeClassTest, CoarseClassesEndAtMany) {
  EXPECT_EQ(CoarseClass(1), 1);
  EXPECT_EQ(CoarseClass(65), 128);
  EXPECT_EQ(CoarseClass(1 << 20), CoarseClass(10000));
}

TEST(KeyTest, GeometryFollowsFromShapeAndLayout) {
  EXPECT_EQ(KeyOfLine("relu.fwd f32 4x8x5x5").geometry, Geometry::kFlat);
  EXPECT_EQ(KeyOfLine("batch_norm.infer f32 4x8x5x5").geometry, Geometry::kFlat);
  EXPECT_EQ(KeyOfLine("batch_norm.train f32 4x8x5x5").geometry, Geometry::kRow);
  EXPECT_EQ(KeyOfLine("batch_norm.train f32 4x8x5x5:nhwc").geometry, Geometry::kColumn);
  EXPECT_EQ(KeyOfLine("batch_norm.train f32 4x8").geometry, Geometry::kColumn);
  EXPECT_EQ(KeyOfLine("batch_norm.train f32 4x8x1x1").geometry, Geometry::kColumn);
  EXPECT_EQ(KeyOfLine("batch_norm.train f32 4x1x5x5:nhwc").geometry, Geometry::kRow);
}

TEST(KeyTest, MergedAxesShareAKernel) {
  EXPECT_EQ(KeyOfLine("batch_norm.train f32 4x8x6x6"), KeyOfLine("batch_norm.train f32 4x8x36"));
  EXPECT_EQ(KeyOfLine("batch_norm.train f32 4x8x6x6:nhwc"),
            KeyOfLine("batch_norm.train f32 144x8"));
  EXPECT_EQ(KeyOfLine("relu.fwd f32 4x8x6x6"), KeyOfLine("relu.fwd f32 7"));
}

TEST(KeyTest, LayoutsOfEqualSizesDiffer) {
  EXPECT_NE(KeyOfLine("batch_norm.train f32 2x4x4x4"),
            KeyOfLine("batch_norm.train f32 2x4x4x4:nhwc"));
  EXPECT_NE(KeyOfLine("batch_norm.infer f32 2x4x4x4"),
            KeyOfLine("batch_norm.infer f32 2x4x4x4:nhwc"));
}

TEST(KeyTest, BatchIsAnExtent) {
  std::set<std::string> keys;
  for (int n = 33; n <= 40; ++n)
    keys.insert(ToString(KeyOfLine(absl::StrCat("batch_norm.train f32 ", n, "x8x6x6"))));
  EXPECT_EQ(keys.size(), 1);
  keys.clear();
  for (int n = 1; n <= 40; ++n)
    keys.insert(ToString(KeyOfLine(absl::StrCat("batch_norm.infer f16 ", n, "x8x6x6"))));
  EXPECT_EQ(keys.size(), 1);
}

TEST(KeyTest, EqualKeysPrintAndHashAlike) {
  const Key minus = KeyOfLine("pointwise.fwd f32 8 act=leaky_relu:-0"),
            plus = KeyOfLine("pointwise.fwd f32 8 act=leaky_relu:0");
  EXPECT_EQ(minus, plus);
  EXPECT_EQ(ToString(minus), ToString(plus));
  EXPECT_EQ(absl::Hash<Key>{}(minus), absl::Hash<Key>{}(plus));
}

TEST(KeyTest, BatchInvariantTakesTheRowClassOut) {
  EXPECT_EQ(KeyOfLine("batch_norm.train f32 4x8x6x6 batch_invariant"),
            KeyOfLine("batch_norm.train f32 4x32x6x6 batch_invariant"));
  EXPECT_NE(KeyOfLine("batch_norm.train f32 4x8x6x6"), KeyOfLine("batch_norm.train f32 4x32x6x6"));
  EXPECT_EQ(KeyOfLine("layer_norm.fwd f32 4x80 batch_invariant"),
            KeyOfLine("layer_norm.fwd f32 3000x80 batch_invariant"));
}

TEST(KeyTest, RowsOfSampleNormsAreExtents) {
  std::set<std::string> keys;
  for (int rows = 33; rows <= 64; ++rows) {
    for (int length = 1800; length <= 2048; length += 8)
      keys.insert(ToString(KeyOfLine(absl::StrCat("layer_norm.fwd f16 ", rows, "x", length))));
  }
  EXPECT_EQ(keys.size(), 1);
  EXPECT_EQ(KeyOfLine("group_norm.fwd f32 4x8x6x6 groups=4"),
            KeyOfLine("group_norm.fwd f32 2x16x6x6 groups=8"));
  EXPECT_EQ(KeyOfLine("instance_norm.fwd f32 4x8x6x6 save"),
            KeyOfLine("instance_norm.fwd f32 2x16x36 eps=1"));
}

TEST(KeyTest, ParametersOfARowComeInRuns) {
  EXPECT_EQ(KeyOfLine("layer_norm.fwd f32 4x8x6 axes=2").param_run, 1);
  EXPECT_EQ(KeyOfLine("layer_norm.fwd f32 4x8x6 affine=none").param_run, 0);
  EXPECT_EQ(KeyOfLine("group_norm.fwd f32 4x8x6x6 groups=4").param_run, 36);
  EXPECT_EQ(KeyOfLine("group_norm.fwd f32 4x8 groups=4").param_run, 1);
  EXPECT_EQ(KeyOfLine("group_norm.fwd f32 4x8x6x6 groups=8").param_run, 0);
  EXPECT_EQ(KeyOfLine("instance_norm.fwd f32 4x8x6x6").param_run, 0);
  EXPECT_EQ(KeyOfLine("batch_norm.train f32 4x8x6x6").param_run, 0);
}

TEST(KeyTest, NoAccessStraddlesTwoRunsOfParameters) {
  EXPECT_EQ(KeyOfLine("group_norm.fwd f16 4x8x7x6 groups=2").access_bytes, 4);
  EXPECT_EQ(KeyOfLine("group_norm.fwd f16 4x8x7x6 groups=2 affine=none").access_bytes, 16);
  EXPECT_EQ(KeyOfLine("layer_norm.fwd f16 4x8x7x6 axes=3").access_bytes, 16);
}

TEST(KeyTest, OneChannelIsOneRun) {
  const Key key = KeyOfLine("batch_norm.infer f32 4x1x6x6");
  EXPECT_EQ(key, KeyOfLine("batch_norm.infer f32 4x1x8x8"));
  EXPECT_EQ(key, KeyOfLine("batch_norm.infer f32 4x1x6x6:nhwc"));
  EXPECT_EQ(key.access_bytes, 16);
}

TEST(KeyTest, EpsAndMomentumAreExtents) {
  const Key key = KeyOfLine("batch_norm.train f32 4x8x6x6");
  EXPECT_EQ(key, KeyOfLine("batch_norm.train f32 4x8x6x6 eps=1e-3 momentum=0.5"));
  EXPECT_EQ(key, KeyOfLine("batch_norm.train f32 4x8x6x6 running_var=biased"));
}

TEST(KeyTest, AccessIsWhatPointersAndInnerSizeAllow) {
  EXPECT_EQ(KeyOfLine("batch_norm.train f32 4x8x6x6").access_bytes, 16);
  EXPECT_EQ(KeyOfLine("batch_norm.train f32 4x8x6x6", 4).access_bytes, 4);
  EXPECT_EQ(KeyOfLine("batch_norm.train f32 4x8x7x7").access_bytes, 4);
  EXPECT_EQ(KeyOfLine("batch_norm.train f16 4x8x5x6").access_bytes, 4);
  EXPECT_EQ(KeyOfLine("batch_norm.train f16 4x12x5x5:nhwc").access_bytes, 8);
  EXPECT_EQ(KeyOfLine("batch_norm.train f64 4x3x5x5:nhwc").access_bytes, 8);
  EXPECT_EQ(KeyOfLine("relu.fwd bf16 13").access_bytes, 16);
}

TEST(KeyTest, AlignmentIsThatOfTheWorstDataTensor) {
  Buffers buffers;
  buffers[Role::kX] = 256;
  buffers[Role::kY] = 256 + 8;
  buffers[Role::kScale] = 4;  // a parameter
  EXPECT_EQ(AlignmentOf(Parsed("batch_norm.train f32 4x8x6x6"), buffers), 8);
  buffers[Role::kY] = 512;
  EXPECT_EQ(AlignmentOf(Parsed("batch_norm.train f32 4x8x6x6"), buffers), 16);
}

TEST(KeyTest, AlignmentLetsTheParametersOfAVectorBeReadAtOnce) {
  Buffers buffers;
  buffers[Role::kX] = buffers[Role::kY] = 256;
  buffers[Role::kScale] = 512;
  buffers[Role::kBias] = 512 + 8;
  const Problem layer = Parsed("layer_norm.fwd f16 4x64");
  EXPECT_EQ(AlignmentOf(layer, buffers), 4) << "two values a vector: eight bytes of bias";
  EXPECT_EQ(AlignmentOf(Parsed("layer_norm.fwd f16 4x64 param=f16"), buffers), 8);
  EXPECT_EQ(AlignmentOf(Parsed("instance_norm.fwd f16 4x8x8"), buffers), 16);
  buffers[Role::kBias] = 512 + 16;
  EXPECT_EQ(AlignmentOf(layer, buffers), 16);
}

TEST(KeyTest, OffsetsAreWideFrom2GiB) {
  EXPECT_FALSE(KeyOfLine("relu.fwd f32 500000000").wide_index);
  EXPECT_TRUE(KeyOfLine("relu.fwd f32 600000000").wide_index);
  EXPECT_TRUE(KeyOf(Parsed("relu.fwd f32 8"), 16, {.wide_index = true}).wide_index);
}

TEST(KeyTest, TextNamesNoExtent) {
  EXPECT_THAT(ToString(KeyOfLine("batch_norm.train f32 37x8x6x6 eps=0.125")),
              AllOf(Not(HasSubstr("37")), Not(HasSubstr("0.125"))));
}

TEST(KeyTest, WhatNoKernelComputesYetIsNamed) {
  EXPECT_TRUE(KeyCovers(Parsed("relu.fwd f32 4x4 strides=4,1")).ok()) << "dense strides";
  const std::pair<const char*, const char*> cases[] = {
      {"relu.fwd f32 4x4 strides=8,1", "strides: "},
      {"pointwise.fwd f32 4x4 expr=\"2*x\"", "expr: "},
      {"batch_norm.infer f32 1x4x8x8 act=relu | max_pool.fwd window=2x2", "'|': "},
      {"rms_norm.fwd f32 4x4 skip", "skip: "},
      {"group_norm.fwd f32 4x4x3:nhwc groups=2", "layout: "},
      {"instance_norm.fwd f32 4x4x3:nhwc", "layout: "},
      {"layer_norm.fwd f32 4x4x3:nhwc axes=2", "layout: "},
      {"batch_norm.train f16 2x3000000000x2", "x: 3000000000 regions"},
  };
  for (const auto& [line, start] : cases) {
    const absl::Status status = KeyCovers(Parsed(line));
    EXPECT_TRUE(absl::IsUnimplemented(status)) << line;
    EXPECT_THAT(std::string(status.message()), StartsWith(start));
  }
}

TEST(ExtentsTest, VarianceCorrectionFollowsRunningVar) {
  EXPECT_DOUBLE_EQ(ExtentsOf(Parsed("batch_norm.train f32 1x6x5")).var_correction, 5.0 / 4.0);
  EXPECT_DOUBLE_EQ(
      ExtentsOf(Parsed("batch_norm.train f32 1x6x5 running_var=biased")).var_correction, 1.0);
}

TEST(ExtentsTest, CumulativeMomentumWeighsTheNewBatch) {
  EXPECT_DOUBLE_EQ(ExtentsOf(Parsed("batch_norm.train f32 2x6x5 momentum=cumulative:3")).new_weight,
                   0.25);
}

TEST(KeyTest, LayoutsThatKeepRegionsContiguousAreCovered) {
  for (const char* line :
       {"layer_norm.fwd f32 4x4:nhwc", "layer_norm.fwd f32 4x4x3:nhwc axes=2 affine=none",
        "layer_norm.fwd f32 4x4x1x1:nhwc axes=3", "rms_norm.fwd f32 4x1x3x5:nhwc axes=2",
        "group_norm.fwd f32 4x4x1x1:nhwc groups=2", "instance_norm.fwd f32 4x1x3x3:nhwc",
        "group_norm.fwd f32 4x4x3:nhwc groups=1 affine=none"}) {
    EXPECT_TRUE(KeyCovers(Parsed(line)).ok()) << line << ": " << KeyCovers(Parsed(line));
  }
}

TEST(ExtentsTest, RepresentativeExtentsCoverTheProblem) {
  for (const char* line :
       {"batch_norm.train f32 13x70x9x9", "batch_norm.train f16 13x70x9x9:nhwc"}) {
    const Extents exact = ExtentsOf(Parsed(line)), bound = RepresentativeExtents(KeyOfLine(line));
    EXPECT_GE(bound.rows, exact.rows) << line;
    EXPECT_GE(bound.segments, exact.segments) << line;
  }
}

}  // namespace
}  // namespace onepass
