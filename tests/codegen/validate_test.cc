#include "codegen/validate.h"

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {
std::atomic<int64_t> allocations = 0;
}  // namespace

void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size > 0 ? size : 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace onepass {
namespace {

using ::testing::HasSubstr;

// What is right, the unusual in particular.
constexpr const char* kValid[] = {
    "pointwise.fwd f32 1",
    "pointwise.fwd f32 0",
    "pointwise.fwd f32 0x3:nhwc",
    "batch_norm.train f32 0x5x9",
    "batch_norm.train f32 4x2x0x3",
    "batch_norm.infer f32 1x256x1x1",
    "batch_norm.train f32 1x256x1x1 running_var=biased",
    "batch_norm.train f32 2x1",
    "batch_norm.train f32 3x2x3x4 momentum=-1.2",
    "batch_norm.infer f32 880801x1x1x1 eps=0",
    "batch_norm.infer f16 4x3x5 param=f16",
    "batch_norm.infer f64 4x3x5 param=f32",
    "group_norm.fwd f32 0x2 groups=1",
    "group_norm.fwd f32 1x256x1x1 groups=32",
    "layer_norm.fwd f32 16x1",
    "layer_norm.fwd f32 5 axes=1",
    "layer_norm.fwd f32 2x3x4 axes=3",
    "layer_norm.fwd f32 1x33554432",
    "pointwise.fwd f32 4x5 strides=0,0",
    "pointwise.fwd f32 4x5 strides=1,1",
    "relu.grad f32 4x5 dy_strides=0,1",
    "pointwise.fwd f32 3x1 a=1x4 expr=\"x+a\"",
    "pointwise.fwd f16 8 align=2",
    "pointwise.fwd f32 8 act=clip:-inf:0",
    "pointwise.fwd f32 8 act=softplus:2:-100",
    "pointwise.fwd f64 8 act=elu:1e39",
    "batch_norm.infer f32 2x3 inplace residual act=relu",
    "batch_norm.grad f32 2x3x4:nhwc inplace residual",
    "batch_norm.infer f32 2x3x4 | relu.fwd",
    // Pads beyond the window are of use, and windows wholly in padding have a rule.
    "avg_pool.fwd f32 1x1x5 window=2 pad=2,3",
    "max_pool.fwd f16 3x17x13x13 window=17x17 stride=1x1 pad=20x20",
    "max_pool.fwd f32 1x1x1x224 window=3x3 stride=6x6 pad=1x1 dilation=2x2 ceil",
    "max_pool.fwd f32 5x10x24x24 window=1x1 dilation=2147483647x2147483647 ceil",
    "max_pool.fwd f32 0x3x8x8 window=2x2",
    // Nothing is nothing, however large its other sizes.
    "pointwise.fwd f32 0x3037000500x3037000500",
    "pointwise.fwd f32 3037000500x3037000500x0:nhwc",
    "batch_norm.train f32 0x3x3037000500x3037000500",
    "max_pool.fwd f32 0x3037000500x3037000500 window=2",
    "avg_pool.fwd f32 1x2x8x8x8 window=2x2x2 divisor=3",
};

TEST(ValidateTest, AcceptsWhatMakesSense) {
  for (const char* line : kValid) {
    const absl::StatusOr<Problem> problem = ParseProblem(line);
    ASSERT_TRUE(problem.ok()) << line << ": " << problem.status();
    EXPECT_TRUE(Validate(*problem).ok()) << line << ": " << Validate(*problem);
  }
}

struct Mistake {
  const char* line;
  const char* message;  // a part of it
};

void ExpectRefused(const Mistake& each, absl::StatusCode code) {
  const absl::StatusOr<Problem> problem = ParseProblem(each.line);
  ASSERT_TRUE(problem.ok()) << each.line << ": " << problem.status();
  const absl::Status status = Validate(*problem);
  EXPECT_EQ(status.code(), code) << each.line << ": " << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(each.message)) << each.line;
}

constexpr Mistake kInvalid[] = {
    {"pointwise.fwd f32 2x-3", "x: size -3 in 2x-3 is negative"},
    {"pointwise.fwd f32 1x2x3x4x5x6", "x: has 6 axes; 1 to 5 are known"},
    {"pointwise.fwd f32 3037000500x3037000500", "does not fit 63 bits"},
    {"batch_norm.infer f32 0x9223372036854775807", "scale: 9223372036854775807 f32 does not fit"},
    {"layer_norm.fwd f32 0x3037000500x3037000500 axes=2", "does not fit 63 bits"},
    {"pointwise.fwd f32 8:nhwc", "layout: nhwc needs 2 to 5 axes but x has 1"},
    {"batch_norm.infer f32 8", "dims: batch_norm.infer needs at least 2 axes"},
    {"group_norm.fwd f32 1 groups=1", "dims: group_norm.fwd needs at least 2 axes"},
    {"max_pool.fwd f32 3x4 window=2", "dims: max_pool.fwd needs at least 3 axes"},
    {"batch_norm.infer f32 2x3 eps=-1e-5", "eps: -1e-5 is not"},
    {"batch_norm.infer f32 2x3 eps=nan", "eps: nan is not"},
    {"batch_norm.infer f32 2x3 eps=inf", "eps: inf is not"},
    {"batch_norm.train f32 2x3 momentum=nan", "momentum: nan is not finite"},
    {"batch_norm.train f32 1x10x1", "1x10x1 has one value per channel"},
    {"batch_norm.train f32 1x256x1x1:nhwc", "1x256x1x1 has one value per channel"},
    {"instance_norm.fwd f32 10x3x1x1", "10x3x1x1 has one value per instance"},
    {"instance_norm.grad f32 10x3x1x1x1", "one value per instance"},
    {"group_norm.fwd f32 1x2x3x4", "groups: group_norm.fwd needs it"},
    {"group_norm.fwd f32 1x2x3x4 groups=3", "groups: 3 does not divide the 2 channels of x"},
    {"group_norm.fwd f32 1x2x3x4 groups=-1", "groups: -1 is less than 1"},
    {"layer_norm.fwd f32 2x3 axes=0", "axes: 0 is not from 1 to 2"},
    {"layer_norm.fwd f32 2x3 axes=3", "axes: 3 is not from 1 to 2"},
    {"batch_norm.grad f32 2x3 stats=fixed recompute", "recompute: stats=fixed leaves nothing"},
    {"pointwise.fwd f32 2x3 act=clip:2:1", "act: clip:2:1: the low end lies above the high end"},
    {"pointwise.fwd f32 2x3 act=clip:nan:1", "a constant is NaN"},
    {"pointwise.fwd f32 2x3 act=elu:inf", "a constant is infinite"},
    {"pointwise.fwd f32 2x3 act=elu:1e39", "larger than float holds"},
    {"pointwise.fwd f32 2x3 act=celu:0", "must not be 0"},
    {"pointwise.fwd f32 2x3 act=softplus:0", "must not be 0"},
    {"pointwise.fwd f32 2x3 act=softshrink:-1", "must not be negative"},
    {"pointwise.fwd f32 2x3 expr=\"x+a\"", "a: is read by expr but not declared"},
    {"pointwise.fwd f32 2x3 expr=x a", "a: is declared but nothing reads it"},
    {"pointwise.fwd f32 2x3 act=relu a", "a: is declared but nothing reads it"},
    {"pointwise.fwd f32 2x3 act=relu expr=x", "act: is given beside expr"},
    {"pointwise.fwd f32 2x3 a=4 expr=x+a", "a: 4 does not broadcast with x 2x3"},
    {"pointwise.fwd f32 2x3 a=-1 expr=x+a", "a: size -1 in -1 is negative"},
    {"pointwise.fwd f32 2147483648x1 a=1x2147483648 expr=x+a", "y: 2147483648x2147483648"},
    {"pointwise.fwd f32 2x3 align=3", "align: 3 is not a power of two"},
    {"pointwise.fwd f32 2x3 align=-4", "align: -4 is not a power of two"},
    {"pointwise.fwd f32 2x3 align=2", "align: 2 is less than the 4 bytes of f32"},
    {"pointwise.fwd f32 2x3 strides=1", "strides: has 1 strides but the tensor has 2 axes"},
    {"pointwise.fwd f32 2x3 strides=1,-1", "strides: stride -1 is negative"},
    {"pointwise.fwd f32 2x3 strides=4611686018427387904,1", "does not fit 63 bits"},
    {"relu.grad f32 2x3 dy_strides=1,2,3", "dy_strides: has 3 strides but the tensor has 2 axes"},
    {"max_pool.fwd f32 1x2x3x4", "window: a pool needs it"},
    {"max_pool.fwd f32 1x2x3x4 window=1x1x1", "window: has 3 axes but x has 2 spatial axes"},
    {"max_pool.fwd f32 1x2x3 window=2 stride=1x1", "stride: has 2 axes but x has 1 spatial axis"},
    {"max_pool.fwd f32 1x2x3 window=0", "window: 0 is less than 1"},
    {"max_pool.fwd f32 1x2x3 window=2 stride=0", "stride: 0 is less than 1"},
    {"max_pool.fwd f32 1x2x3 window=2 dilation=0", "dilation: 0 is less than 1"},
    {"max_pool.fwd f32 1x2x3 window=2 pad=-1", "pad: -1 is less than 0"},
    {"max_pool.fwd f32 1x2x3 window=2 pad=0,-1", "pad: -1 is less than 0"},
    {"max_pool.fwd f32 1x2x3 window=2 dilation=2147483648", "dilation: 2147483648 is more than"},
    {"max_pool.fwd f32 1x1x4 window=6 stride=2", "window: 6 does not fit the 4 elements of axis 2"},
    {"max_pool.fwd f32 1x0x50x32 window=3x3", "only the batch of a pool may be 0"},
    {"avg_pool.fwd f32 1x1x4 window=2 divisor=-1", "divisor: -1 is less than 1"},
    {"lp_pool.fwd f32 1x1x4 window=2 p=0", "p: 0 is not"},
    {"lp_pool.fwd f32 1x1x4 window=2 p=inf", "p: inf is not"},
    {"relu.fwd f32 2x3 | relu.grad", "stage 2: chains are forward only"},
    {"relu.fwd f32 2x3 | max_pool.fwd window=2", "stage 2: dims: max_pool.fwd needs at least 3"},
    {"relu.fwd f32 2x3x4 | max_pool.fwd window=9", "stage 2: window: 9 does not fit"},
};

TEST(ValidateTest, RefusesWhatMakesNoSenseAndNamesIt) {
  for (const Mistake& each : kInvalid) ExpectRefused(each, absl::StatusCode::kInvalidArgument);
}

constexpr Mistake kUnimplemented[] = {
    {"pointwise.fwd f32 2x3 strides=1,2 inplace", "needs dense memory but x has strides"},
    {"relu.grad f32 2x3 dy_strides=0,0 inplace", "needs dense memory but dy has strides"},
    {"pointwise.fwd f32 2x3 a=4x2x3 expr=x+a inplace",
     "needs equal sizes but x is 2x3 and y 4x2x3"},
    {"max_pool.fwd f32 1x1x4 window=2 inplace", "max_pool.fwd cannot write y on x"},
    {"avg_pool.grad f32 1x1x4 window=2 inplace", "avg_pool.grad cannot write dx on dy"},
    {"relu.fwd f32 1x1x4 inplace | max_pool.fwd window=1", "max_pool.fwd cannot write y on x"},
    {"batch_norm.infer f32 2x3 param=f16", "param: f16 parameters of f32 tensors"},
};

TEST(ValidateTest, SaysWhatCannotBeDone) {
  for (const Mistake& each : kUnimplemented) ExpectRefused(each, absl::StatusCode::kUnimplemented);
}

TEST(ValidateTest, ChecksProblemsThatNoParserMade) {
  Problem problem = *ParseProblem("relu.fwd f32 2x3 | relu.fwd");
  problem.next[0].dims = {2, 4};
  EXPECT_THAT(std::string(Validate(problem).message()), HasSubstr("2x4 are not the 2x3"));
  problem = *ParseProblem("max_pool.fwd f32 1x1x4 window=2");
  problem.window.stride.clear();
  EXPECT_THAT(std::string(Validate(problem).message()), HasSubstr("stride: has 0 axes"));
  problem.dims.clear();
  EXPECT_THAT(std::string(Validate(problem).message()), HasSubstr("x: has 0 axes"));
}

TEST(ValidateTest, OrdinaryProblemsAllocateNothing) {
  for (const char* line :
       {"batch_norm.train f16 32x64x56x56:nhwc residual act=relu", "layer_norm.grad bf16 8192x4096",
        "gelu_tanh.fwd bf16 4096x11008", "batch_norm.infer f32 8x3x4x4 inplace act=leaky_relu:0.2",
        "pointwise.fwd f32 4x5 strides=1,4 align=4"}) {
    const Problem problem = *ParseProblem(line);
    const int64_t before = allocations;
    const bool ok = Validate(problem).ok();
    EXPECT_EQ(allocations, before) << line;
    EXPECT_TRUE(ok) << line;
  }
}

}  // namespace
}  // namespace onepass
