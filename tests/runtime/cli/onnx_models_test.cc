// The models of libonnx-testdata that our operators cover, compared with the tensors they ship.
#include <filesystem>
#include <ostream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
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

// test_relu with tensors of the test's own in place of those that it ships.
class OtherTensorsTest : public testing::Test {
 protected:
  OtherTensorsTest() {
    std::filesystem::create_directories(folder_ / "test_data_set_0");
    Take(kRelu, "input_0.pb", "input_0.pb");
    Take(kRelu, "output_0.pb", "output_0.pb");
  }

  void Take(const std::string& model, const std::string& file, const std::string& as) {
    const std::string from = kModels + model + "/test_data_set_0/" + file;
    ASSERT_TRUE(std::filesystem::exists(from)) << from << " is not installed";
    WriteText(folder_ / "test_data_set_0/" + as, ReadText(from));
  }

  ProgramRun Run(const std::string& flags) const {
    return RunOnepass(std::string("onnx ") + kModels + kRelu + "/model.onnx --data " +
                      folder_.path() + " --device sim:h200 " + flags);
  }

  static constexpr char kRelu[] = "node/test_relu";
  TemporaryFolder folder_;
};

TEST_F(OtherTensorsTest, InputOfAnotherShapeIsAWrongRequest) {
  Take("node/test_sigmoid_example", "input_0.pb", "input_0.pb");
  const ProgramRun run = Run("");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, testing::HasSubstr("input_0.pb: wanted f32[3x4x5] for 'x', found f32[3]"));
}

TEST_F(OtherTensorsTest, JsonOfAMismatchIsNotOk) {
  Take(kRelu, "input_0.pb", "output_0.pb");
  const ProgramRun run = Run("--json");
  EXPECT_EQ(run.exit_code, 1);
  const size_t end = run.out.find('\n');
  const auto node = nlohmann::json::parse(run.out.substr(0, end));
  EXPECT_EQ(node["ok"], false);
  EXPECT_EQ(node["exit"], 1);
  EXPECT_THAT(node["error"].get<std::string>(), testing::HasSubstr("output 'y'"));
  const auto summary = nlohmann::json::parse(run.out.substr(end + 1))["summary"];
  EXPECT_EQ(summary["ok"], false);
  EXPECT_EQ(summary["exit"], 1);
  EXPECT_EQ(summary["outputs"][0]["ok"], false);
  EXPECT_GT(summary["outputs"][0]["mismatches"], 0);
}

TEST_F(OtherTensorsTest, JsonOfAMatchIsOk) {
  const ProgramRun run = Run("--json");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto summary = nlohmann::json::parse(run.out.substr(run.out.find('\n') + 1))["summary"];
  EXPECT_EQ(summary["ok"], true);
  EXPECT_EQ(summary["nodes_ran"], 1);
  EXPECT_EQ(summary["outputs"][0]["ok"], true);
}

}  // namespace
}  // namespace onepass::cli
