// The models of libonnx-testdata that our operators cover, compared with the tensors they ship.
#include <filesystem>
#include <ostream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/cli/program_run.h"

namespace onepass::cli {
namespace {

constexpr char kModels[] = "/usr/share/libonnx-testdata/data/";

struct Model {
  const char* folder;
  int exit_code = 0;
};

void PrintTo(const Model& model, std::ostream* out) { *out << model.folder; }

class OnnxModelsTest : public testing::TestWithParam<Model> {};

TEST_P(OnnxModelsTest, GivesTheTensorsItShips) {
  const std::string folder = std::string(kModels) + GetParam().folder;
  ASSERT_TRUE(std::filesystem::exists(folder)) << folder << " is not installed";
  const ProgramRun run =
      RunOnepass("onnx " + folder + "/model.onnx --data " + folder + " --device sim:h200");
  EXPECT_EQ(run.exit_code, GetParam().exit_code) << run.out << run.err;
  if (GetParam().exit_code == 0) {
    EXPECT_THAT(run.out, testing::HasSubstr("against the model's own tensor: right"));
  } else {
    EXPECT_THAT(run.err, testing::StartsWith("onepass: no node is supported"));
  }
}

constexpr Model kCases[] = {
    {"node/test_batchnorm_epsilon"},
    {"node/test_batchnorm_epsilon_training_mode"},
    {"node/test_batchnorm_example"},
    {"node/test_batchnorm_example_training_mode"},
    {"pytorch-converted/test_BatchNorm1d_3d_input_eval"},
    {"pytorch-converted/test_BatchNorm2d_eval"},
    {"pytorch-converted/test_BatchNorm2d_momentum_eval"},
    {"pytorch-converted/test_BatchNorm3d_eval"},
    {"pytorch-converted/test_BatchNorm3d_momentum_eval"},
    {"node/test_elu"},
    {"node/test_elu_default"},
    {"node/test_elu_example"},
    {"pytorch-converted/test_ELU"},
    {"node/test_hardswish"},
    {"node/test_identity"},
    {"node/test_leakyrelu"},
    {"node/test_leakyrelu_default"},
    {"node/test_leakyrelu_example"},
    {"pytorch-converted/test_LeakyReLU"},
    {"pytorch-converted/test_LeakyReLU_with_negval"},
    {"node/test_relu"},
    {"pytorch-converted/test_ReLU"},
    {"simple/test_single_relu_model"},
    {"node/test_sigmoid"},
    {"node/test_sigmoid_example"},
    {"pytorch-converted/test_Sigmoid"},
    {"node/test_softplus"},
    {"node/test_softplus_example"},
    {"pytorch-converted/test_Softplus"},
    {"node/test_tanh"},
    {"node/test_tanh_example"},
    {"pytorch-converted/test_Tanh"},
    {"node/test_clip_default_inbounds"},
    {"node/test_clip_default_int8_max", 3},
    {"node/test_maxpool_2d_default", 3},
    {"node/test_add", 3},
};

INSTANTIATE_TEST_SUITE_P(, OnnxModelsTest, testing::ValuesIn(kCases), [](const auto& info) {
  std::string name = info.param.folder;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
});

}  // namespace
}  // namespace onepass::cli
