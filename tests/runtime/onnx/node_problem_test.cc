#include "runtime/onnx/node_problem.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"

namespace onepass::model {
namespace {

using ::testing::HasSubstr;

onnx::NodeProto Node(const std::string& op, int inputs, int outputs) {
  onnx::NodeProto node;
  node.set_op_type(op);
  for (int i = 0; i < inputs; ++i) node.add_input("i" + std::to_string(i));
  for (int i = 0; i < outputs; ++i) node.add_output("o" + std::to_string(i));
  return node;
}

void SetFloat(onnx::NodeProto& node, const std::string& name, float value) {
  onnx::AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_f(value);
}

void SetInt(onnx::NodeProto& node, const std::string& name, int64_t value) {
  onnx::AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_i(value);
}

void SetString(onnx::NodeProto& node, const std::string& name, const std::string& value) {
  onnx::AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_s(value);
}

// Inputs of these types, and of these values where there are some.
NodeInputs Inputs(const std::vector<TensorType>& types,
                  const std::map<int, const Tensor*>& values = {}) {
  return {.type = [types](int i) -> absl::StatusOr<TensorType> {
            if (i < static_cast<int>(types.size())) return types[i];
            return absl::UnimplementedError("input " + std::to_string(i) + " is not known");
          },
          .value = [values](int i) { return values.contains(i) ? values.at(i) : nullptr; }};
}

NodeInputs BatchNormInputs(const Shape& x, DType dtype = DType::kF32, int64_t channels = 3) {
  const TensorType parameter{dtype, {channels}};
  return Inputs({{dtype, x}, parameter, parameter, parameter, parameter});
}

std::string Line(const onnx::NodeProto& node, int opset, const NodeInputs& inputs) {
  const auto mapped = ProblemOfNode(node, opset, inputs);
  return mapped.ok() ? ToString(mapped->problem) : "refused: " + mapped.status().ToString();
}

TEST(NodeProblemTest, BatchNormInferIsTheDefault) {
  EXPECT_EQ(Line(Node("BatchNormalization", 5, 1), 15, BatchNormInputs({2, 3, 4, 5})),
            "batch_norm.infer f32 2x3x4x5");
}

TEST(NodeProblemTest, MomentumBecomesTheWeightOfTheNewValue) {
  onnx::NodeProto node = Node("BatchNormalization", 5, 3);
  SetInt(node, "training_mode", 1);
  SetFloat(node, "momentum", 0.7F);
  SetFloat(node, "epsilon", 1e-2F);
  EXPECT_EQ(Line(node, 15, BatchNormInputs({2, 3, 4, 5})),
            "batch_norm.train f32 2x3x4x5 eps=0.01 momentum=0.3 running_var=biased");
}

TEST(NodeProblemTest, DefaultMomentumIsOurDefault) {
  onnx::NodeProto node = Node("BatchNormalization", 5, 3);
  SetInt(node, "training_mode", 1);
  EXPECT_EQ(Line(node, 14, BatchNormInputs({2, 3, 4, 5})),
            "batch_norm.train f32 2x3x4x5 running_var=biased");
}

TEST(NodeProblemTest, BeforeOpset14OutputsDecideWhatIsTraining) {
  EXPECT_THAT(Line(Node("BatchNormalization", 5, 1), 9, BatchNormInputs({2, 3})),
              HasSubstr("batch_norm.infer"));
  EXPECT_THAT(Line(Node("BatchNormalization", 5, 3), 9, BatchNormInputs({2, 3})),
              HasSubstr("batch_norm.train"));
  onnx::NodeProto tested = Node("BatchNormalization", 5, 3);
  SetInt(tested, "is_test", 1);
  EXPECT_THAT(Line(tested, 6, BatchNormInputs({2, 3})), HasSubstr("batch_norm.infer"));
  EXPECT_THAT(Line(Node("BatchNormalization", 5, 5), 9, BatchNormInputs({2, 3})),
              HasSubstr("saved_mean and saved_var"));
}

TEST(NodeProblemTest, WithoutSpatialEachPlaceIsAChannel) {
  onnx::NodeProto node = Node("BatchNormalization", 5, 1);
  SetInt(node, "spatial", 0);
  EXPECT_EQ(Line(node, 7, BatchNormInputs({2, 3, 4, 5}, DType::kF32, 60)),
            "batch_norm.infer f32 2x60");
}

TEST(NodeProblemTest, AnyRankFits) {
  EXPECT_EQ(Line(Node("BatchNormalization", 5, 1), 15, BatchNormInputs({2, 3, 4, 5, 6, 7})),
            "batch_norm.infer f32 2x3x4x5x42");
  EXPECT_EQ(Line(Node("Relu", 1, 1), 14, Inputs({{DType::kF32, {}}})),
            "pointwise.fwd f32 1 act=relu");
  EXPECT_EQ(Line(Node("Relu", 1, 1), 14, Inputs({{DType::kF16, {1, 2, 3, 4, 5, 6, 7}}})),
            "pointwise.fwd f16 1x2x3x4x210 act=relu");
}

TEST(NodeProblemTest, ParametersHaveOneType) {
  const NodeInputs mixed = Inputs({{DType::kF16, {2, 3}},
                                   {DType::kF16, {3}},
                                   {DType::kF16, {3}},
                                   {DType::kF32, {3}},
                                   {DType::kF32, {3}}});
  EXPECT_THAT(Line(Node("BatchNormalization", 5, 1), 15, mixed), HasSubstr("several types"));
  EXPECT_EQ(Line(Node("BatchNormalization", 5, 1), 15, BatchNormInputs({2, 3}, DType::kF16)),
            "batch_norm.infer f16 2x3 param=f16");
}

struct ActivationCase {
  const char* op;
  const char* attribute;
  float value;
  const char* act;
};

class ActivationNodeTest : public testing::TestWithParam<ActivationCase> {};

TEST_P(ActivationNodeTest, BecomesOurs) {
  onnx::NodeProto node = Node(GetParam().op, 1, 1);
  if (*GetParam().attribute) SetFloat(node, GetParam().attribute, GetParam().value);
  const std::string act = *GetParam().act ? std::string(" act=") + GetParam().act : "";
  EXPECT_EQ(Line(node, 22, Inputs({{DType::kF32, {4}}})), "pointwise.fwd f32 4" + act);
}

INSTANTIATE_TEST_SUITE_P(
    , ActivationNodeTest,
    testing::Values(ActivationCase{"Identity", "", 0, ""}, ActivationCase{"Relu", "", 0, "relu"},
                    ActivationCase{"LeakyRelu", "", 0, "leaky_relu"},
                    ActivationCase{"LeakyRelu", "alpha", 0.1F, "leaky_relu:0.1"},
                    ActivationCase{"Elu", "alpha", 2, "elu:2"}, ActivationCase{"Elu", "", 0, "elu"},
                    ActivationCase{"Sigmoid", "", 0, "sigmoid"},
                    ActivationCase{"Tanh", "", 0, "tanh"},
                    ActivationCase{"Softplus", "", 0, "softplus"},
                    ActivationCase{"HardSwish", "", 0, "hardswish"},
                    ActivationCase{"Swish", "alpha", 0.5F, "swish:0.5"},
                    ActivationCase{"HardSigmoid", "", 0, "hardsigmoid:0.2"},
                    ActivationCase{"Gelu", "", 0, "gelu_erf"}));

TEST(NodeProblemTest, GeluKnowsItsApproximation) {
  onnx::NodeProto node = Node("Gelu", 1, 1);
  SetString(node, "approximate", "tanh");
  EXPECT_THAT(Line(node, 20, Inputs({{DType::kF32, {4}}})), HasSubstr("act=gelu_tanh"));
}

TEST(NodeProblemTest, ClipIsRelu6OnlyWhereItIsExactlyThat) {
  onnx::NodeProto attributes = Node("Clip", 1, 1);
  SetFloat(attributes, "min", 0);
  SetFloat(attributes, "max", 6);
  EXPECT_THAT(Line(attributes, 6, Inputs({{DType::kF32, {4}}})), HasSubstr("act=relu6"));
  EXPECT_EQ(Line(Node("Clip", 1, 1), 13, Inputs({{DType::kF32, {4}}})), "pointwise.fwd f32 4");

  const auto scalar = [](float value) {
    return Tensor{{DType::kF32, {}}, std::string(reinterpret_cast<const char*>(&value), 4)};
  };
  const Tensor zero = scalar(0), six = scalar(6), one = scalar(1);
  const std::vector<TensorType> types = {{DType::kF32, {4}}, {DType::kF32, {}}, {DType::kF32, {}}};
  EXPECT_THAT(Line(Node("Clip", 3, 1), 13, Inputs(types, {{1, &zero}, {2, &six}})),
              HasSubstr("act=relu6"));
  EXPECT_THAT(Line(Node("Clip", 3, 1), 13, Inputs(types, {{1, &one}, {2, &six}})),
              HasSubstr("act=clip:1:6"));
  EXPECT_THAT(Line(Node("Clip", 3, 1), 13, Inputs(types)), HasSubstr("the value of min"));
  EXPECT_THAT(Line(Node("Clip", 2, 1), 13, Inputs(types, {{1, &one}})), HasSubstr("one bound"));
}

TEST(NodeProblemTest, WhatIsNotSupportedIsNamed) {
  EXPECT_THAT(Line(Node("Conv", 2, 1), 15, Inputs({{DType::kF32, {4}}})), HasSubstr("Conv"));
  onnx::NodeProto foreign = Node("Relu", 1, 1);
  foreign.set_domain("com.example");
  EXPECT_THAT(Line(foreign, 15, Inputs({{DType::kF32, {4}}})), HasSubstr("com.example.Relu"));
  EXPECT_THAT(Line(Node("Relu", 1, 1), 15, Inputs({})), HasSubstr("input 0"));
  EXPECT_THAT(Line(Node("BatchNormalization", 3, 1), 15, Inputs({{DType::kF32, {2, 3}}})),
              HasSubstr("input 1"));
}

}  // namespace
}  // namespace onepass::model
