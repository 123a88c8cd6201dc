#include <dlpack/dlpack.h>

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "onepass/onepass.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// relu over 2x3x4x5 channels last, as a framework would hand its tensors over.
class DlpackTest : public ::testing::Test {
 protected:
  DlpackTest() {
    onepass_options options = ONEPASS_OPTIONS_INIT;
    options.cache_dir = "";
    EXPECT_EQ(onepass_engine_create("sim:a100", &options, &engine_), ONEPASS_OK);
    EXPECT_EQ(onepass_problem_parse("relu.fwd f16 2x3x4x5:nhwc", &problem_), ONEPASS_OK);
    x_ = {
        reinterpret_cast<void*>(0x1000), {kDLExtDev, 0}, 4, {kDLFloat, 16, 1}, shape_, strides_, 0};
    y_ = x_;
    y_.data = reinterpret_cast<void*>(0x8000);
    y_.byte_offset = 64;
  }
  ~DlpackTest() override {
    onepass_problem_destroy(problem_);
    onepass_engine_destroy(engine_);
  }

  onepass_status Take() {
    const onepass_dlpack tensors[] = {{"y", &y_}, {"x", &x_}};
    return onepass_dlpack_addresses(engine_, problem_, tensors, 2, addresses_);
  }
  std::string Refusal() {
    EXPECT_EQ(Take(), ONEPASS_INVALID);
    return onepass_last_error();
  }

  onepass_engine* engine_ = nullptr;
  onepass_problem* problem_ = nullptr;
  int64_t shape_[4] = {2, 3, 4, 5};
  int64_t strides_[4] = {60, 1, 15, 3};
  DLTensor x_;
  DLTensor y_;
  uint64_t addresses_[2] = {};
};

TEST_F(DlpackTest, AddressesComeInTheProblemsOrder) {
  ASSERT_EQ(Take(), ONEPASS_OK) << onepass_last_error();
  EXPECT_THAT(addresses_, ElementsAre(0x1000, 0x8040));
}

TEST_F(DlpackTest, OtherTypeIsRefused) {
  x_.dtype.code = kDLBfloat;
  EXPECT_THAT(Refusal(), StartsWith("x: has DLPack type (4, 16 bits, 1 lanes)"));
}

TEST_F(DlpackTest, OtherSizesAreRefused) {
  shape_[1] = 4;
  EXPECT_THAT(Refusal(), HasSubstr("is 2x4x4x5, but the problem wants 2x3x4x5"));
}

TEST_F(DlpackTest, OtherLayoutIsRefused) {
  x_.strides = nullptr;  // row-major
  EXPECT_THAT(Refusal(), HasSubstr("x: has stride 1 in axis 3, but the problem wants 3"));
}

TEST_F(DlpackTest, StridesOfSingleElementsDoNotMatter) {
  onepass_problem_destroy(problem_);
  ASSERT_EQ(onepass_problem_parse("relu.fwd f16 1x3x4x5:nhwc", &problem_), ONEPASS_OK);
  shape_[0] = 1;
  strides_[0] = 12345;
  EXPECT_EQ(Take(), ONEPASS_OK) << onepass_last_error();
}

TEST_F(DlpackTest, HostMemoryIsRefused) {
  x_.device.device_type = kDLCPU;
  EXPECT_THAT(Refusal(), HasSubstr("kernels on sim:a100 cannot reach"));
}

TEST_F(DlpackTest, NamesAreChecked) {
  const auto take = [&](std::vector<onepass_dlpack> tensors) {
    EXPECT_EQ(
        onepass_dlpack_addresses(engine_, problem_, tensors.data(), tensors.size(), addresses_),
        ONEPASS_INVALID);
    return std::string(onepass_last_error());
  };
  EXPECT_EQ(take({{"x", &x_}}), "y: is missing");
  EXPECT_EQ(take({{"x", &x_}, {"x", &x_}}), "x: is given twice");
  EXPECT_THAT(take({{"dy", &x_}}), StartsWith("dy: no tensor of"));
  EXPECT_THAT(take({{"x", nullptr}}), HasSubstr("null"));
}

TEST_F(DlpackTest, TensorsThatShareMemoryMayBeLeftOut) {
  onepass_problem_destroy(problem_);
  ASSERT_EQ(onepass_problem_parse("relu.fwd f16 2x3x4x5:nhwc inplace", &problem_), ONEPASS_OK);
  const onepass_dlpack x = {"x", &x_};
  ASSERT_EQ(onepass_dlpack_addresses(engine_, problem_, &x, 1, addresses_), ONEPASS_OK);
  EXPECT_THAT(addresses_, ElementsAre(0x1000, 0));
}

}  // namespace
