#include "codegen/roles.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "codegen/validate.h"
#include "gtest/gtest.h"

namespace onepass {
namespace {

// "x f16[2,3], ... > y f16[2,3]".
std::string Tensors(const std::string& line) {
  const Problem problem = *ParseProblem(line);
  std::string text;
  bool outputs = false;
  for (const TensorSpec& spec : TensorsOf(problem)) {
    absl::StrAppend(&text,
                    text.empty()              ? ""
                    : spec.output && !outputs ? " > "
                                              : ", ",
                    spec.name(), " ", ToString(spec.dtype), "[", absl::StrJoin(spec.dims, ","),
                    "]");
    outputs = spec.output;
  }
  return text;
}

struct RoleCase {
  const char* problem;
  const char* tensors;
};

// The table of the contract.
constexpr RoleCase kRoleCases[] = {
    {"batch_norm.infer f16 2x3x4",
     "x f16[2,3,4], scale f32[3], bias f32[3], mean f32[3], var f32[3] > y f16[2,3,4]"},
    {"batch_norm.infer f16 2x3x4 affine=none residual",
     "x f16[2,3,4], mean f32[3], var f32[3], residual f16[2,3,4] > y f16[2,3,4]"},
    {"batch_norm.train f16 2x3 param=f16 affine=scale",
     "x f16[2,3], scale f16[3], running_mean f16[3], running_var f16[3] > y f16[2,3], "
     "saved_mean f32[3], saved_invstd f32[3], running_mean_out f16[3], running_var_out f16[3]"},
    {"batch_norm.grad f32 2x3",
     "x f32[2,3], dy f32[2,3], scale f32[3], saved_mean f32[3], saved_invstd f32[3] > dx f32[2,3], "
     "dscale f32[3], dbias f32[3]"},
    {"batch_norm.grad f32 2x3 residual",
     "x f32[2,3], dy f32[2,3], scale f32[3], saved_mean f32[3], saved_invstd f32[3] > dx f32[2,3], "
     "dscale f32[3], dbias f32[3], dresidual f32[2,3]"},
    {"batch_norm.grad f32 2x3 recompute affine=bias residual act=relu",
     "x f32[2,3], dy f32[2,3], bias f32[3], residual f32[2,3] > dx f32[2,3], dbias f32[3], "
     "dresidual f32[2,3]"},
    {"batch_norm.grad f64 2x3 stats=fixed",
     "x f64[2,3], dy f64[2,3], scale f64[3], mean f64[3], var f64[3] > dx f64[2,3], dscale f64[3], "
     "dbias f64[3]"},
    {"layer_norm.fwd bf16 2x3x4 axes=2 skip save residual",
     "x bf16[2,3,4], skip bf16[2,3,4], scale f32[3,4], bias f32[3,4], residual bf16[2,3,4] > "
     "y bf16[2,3,4], sum bf16[2,3,4], saved_mean f32[2], saved_invstd f32[2]"},
    {"layer_norm.grad bf16 2x4 act=tanh",
     "x bf16[2,4], dy bf16[2,4], scale f32[4], saved_mean f32[2], saved_invstd f32[2], bias f32[4] "
     "> "
     "dx bf16[2,4], dscale f32[4], dbias f32[4]"},
    {"rms_norm.fwd f16 2x4 save", "x f16[2,4], scale f32[4] > y f16[2,4], saved_invstd f32[2]"},
    {"rms_norm.grad f16 2x4",
     "x f16[2,4], dy f16[2,4], scale f32[4], saved_invstd f32[2] > dx f16[2,4], dscale f32[4]"},
    {"group_norm.fwd f16 2x6x4 groups=3 save",
     "x f16[2,6,4], scale f32[6], bias f32[6] > y f16[2,6,4], saved_mean f32[2,3], "
     "saved_invstd f32[2,3]"},
    {"instance_norm.grad f16 2x6x4 affine=none",
     "x f16[2,6,4], dy f16[2,6,4], saved_mean f32[2,6], saved_invstd f32[2,6] > dx f16[2,6,4]"},
    {"pointwise.fwd f32 3x1 a=1x4 expr=x+a", "x f32[3,1], a f32[1,4] > y f32[3,4]"},
    {"pointwise.grad f32 3x1 a=1x4 expr=x+a",
     "x f32[3,1], a f32[1,4], dy f32[3,4] > dx f32[3,1], da f32[1,4]"},
    {"max_pool.fwd f16 1x2x8 window=2 indices", "x f16[1,2,8] > y f16[1,2,4], indices i64[1,2,4]"},
    {"max_pool.grad f16 1x2x8 window=2", "x f16[1,2,8], dy f16[1,2,4] > dx f16[1,2,8]"},
    {"max_pool.grad f16 1x2x8 window=2 indices",
     "dy f16[1,2,4], indices i64[1,2,4] > dx f16[1,2,8]"},
    {"avg_pool.fwd f16 1x2x8 window=2", "x f16[1,2,8] > y f16[1,2,4]"},
    {"avg_pool.grad f16 1x2x8 window=2", "dy f16[1,2,4] > dx f16[1,2,8]"},
    {"lp_pool.grad f16 1x2x8 window=2", "x f16[1,2,8], dy f16[1,2,4] > dx f16[1,2,8]"},
    {"relu.fwd f32 2x3x8 | batch_norm.infer affine=scale residual | max_pool.fwd window=2 indices",
     "x f32[2,3,8], s2_scale f32[3], s2_mean f32[3], s2_var f32[3], s2_residual f32[2,3,8] > "
     "y f32[2,3,4], s3_indices i64[2,3,4]"},
};

TEST(RolesTest, TensorsFollowTheContract) {
  for (const RoleCase& each : kRoleCases)
    EXPECT_EQ(Tensors(each.problem), each.tensors) << each.problem;
}

TEST(RolesTest, NamesRoundTrip) {
  for (int i = 0; i < kRoleCount; ++i) {
    const Role role = static_cast<Role>(i);
    EXPECT_EQ(ParseRole(ToString(role)), role);
  }
  EXPECT_EQ(ParseRole("nothing"), std::nullopt);
}

TEST(RolesTest, DataIsInTheLayoutOfXAndParametersInLogicalOrder) {
  const auto specs =
      TensorsOf(*ParseProblem("max_pool.fwd f32 1x2x4x4:nhwc window=2x2 strides=90,1,20,5"));
  EXPECT_EQ(specs[0].strides, (Dims{90, 1, 20, 5}));
  EXPECT_EQ(specs[0].span_elements(), 1 + 3 * 20 + 3 * 5 + 1);
  EXPECT_EQ(specs[1].strides, (Dims{8, 1, 4, 2}));
}

TEST(RolesTest, InPlaceOutputsShareTheirInput) {
  const auto shared = [](const char* line, Role role) -> std::optional<Role> {
    for (const TensorSpec& spec : TensorsOf(*ParseProblem(line))) {
      if (spec.output && spec.role == role) return spec.shares;
    }
    return std::nullopt;
  };
  EXPECT_EQ(shared("relu.fwd f32 8 inplace", Role::kY), Role::kX);
  EXPECT_EQ(shared("relu.fwd f32 8", Role::kY), std::nullopt);
  EXPECT_EQ(shared("relu.grad f32 8 inplace", Role::kDx), Role::kDy);
  EXPECT_EQ(shared("batch_norm.train f32 2x3", Role::kRunningVarOut), Role::kRunningVar);
}

struct BytesCase {
  const char* problem;
  int64_t bytes;
};

constexpr BytesCase kBytesCases[] = {
    {"relu.fwd f32 8", 64},
    {"relu.fwd f32 9", 128},
    {"relu.fwd f32 8 align=4", 128},
    {"relu.fwd f32 8 inplace", 64},
    {"relu.fwd f32 0", 0},
    // x, y; scale, bias, 2 running statistics, 2 saved, 2 running out: 3 floats are one sector.
    {"batch_norm.train f16 2x3x16", 2 * 192 + 8 * 32},
    {"batch_norm.infer f16 2x3x16", 2 * 192 + 4 * 32},
    // A channel of NCHW is not sector-aligned where the tensor is ragged, but the tensor is one
    // run.
    {"batch_norm.infer f16 2x3x7 affine=none", 2 * 96 + 2 * 32},
    // Every second float: the same sectors. Every 8th: one sector each.
    {"pointwise.fwd f32 16 strides=2", 128 + 64},
    {"pointwise.fwd f32 16 strides=8", 512 + 64},
    {"pointwise.fwd f32 16x16 strides=0,1", 64 + 1024},
    {"relu.grad f32 16 dy_strides=0", 64 + 32 + 64},
    // Windows 2 wide every 50: two sectors of x and one of y.
    {"max_pool.fwd f32 1x1x100 window=2 stride=50", 2 * 32 + 32},
    {"max_pool.fwd f32 1x1x16x16 window=1x1 stride=4x4", 4 * 64 + 64},
    {"avg_pool.grad f32 1x1x16 window=2", 32 + 64},
    // Of 33 windows the outer ones lie wholly in padding: dy of 8 in the middle, which straddle two
    // sectors, and dx.
    {"avg_pool.grad f32 1x1x8 window=1 stride=1 pad=12,13", 2 * 32 + 32},
    // Indices are i64.
    {"max_pool.fwd f32 1x1x16 window=2 indices", 64 + 32 + 64},
    {"relu.fwd f32 1x1x100 | max_pool.fwd window=2 stride=50", 2 * 32 + 32},
    {"batch_norm.train f32 1x1x100 affine=none | max_pool.fwd window=2 stride=50",
     13 * 32 + 2 * 32 + 32 + 4 * 32},
};

TEST(RolesTest, MinimumBytesCountsSectors) {
  for (const BytesCase& each : kBytesCases) {
    const Problem problem = *ParseProblem(each.problem);
    ASSERT_TRUE(Validate(problem).ok()) << each.problem << Validate(problem);
    EXPECT_EQ(MinimumBytes(problem), each.bytes) << each.problem;
  }
}

TEST(RolesTest, SmallAlignmentNeverSplitsAnElement) {
  const Problem problem = *ParseProblem("batch_norm.infer f16 2x3 align=2");
  EXPECT_EQ(OffsetOf(problem, DType::kF16), 2);
  EXPECT_EQ(OffsetOf(problem, DType::kF32), 4);
  EXPECT_EQ(OffsetOf(*ParseProblem("batch_norm.infer f16 2x3"), DType::kF32), 0);
}

}  // namespace
}  // namespace onepass
