#include "runtime/onnx/model.h"

#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"
#include "tests/runtime/temporary_folder.h"

namespace onepass::model {
namespace {

std::string ReluModel() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(14);
  onnx::NodeProto* node = model.mutable_graph()->add_node();
  node->set_op_type("Relu");
  node->add_input("x");
  node->add_output("y");
  return model.SerializeAsString();
}

TEST(OnnxModelTest, WholeModelIsRead) {
  const TemporaryFolder folder;
  std::ofstream(folder / "m.onnx", std::ios::binary) << ReluModel();
  const auto model = ReadModel(folder / "m.onnx");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->graph().node(0).op_type(), "Relu");
  EXPECT_EQ(OpsetOf(**model), 14);
}

TEST(OnnxModelTest, NoTruncationIsAModelAndNoneIsLoud) {
  const TemporaryFolder folder;
  const std::string whole = ReluModel();
  testing::internal::CaptureStderr();
  for (size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(folder / "m.onnx", std::ios::binary) << whole.substr(0, size);
    const auto model = ReadModel(folder / "m.onnx");
    if (model.ok()) {
      // Cut between two fields: what is there is whole.
      EXPECT_EQ((*model)->graph().node(0).op_type(), "Relu") << size;
      continue;
    }
    EXPECT_TRUE(absl::IsInvalidArgument(model.status())) << size;
    EXPECT_THAT(std::string(model.status().message()), testing::HasSubstr(folder / "m.onnx"));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(OnnxModelTest, NoFileAndFolderAreInvalid) {
  EXPECT_TRUE(absl::IsInvalidArgument(ReadModel("/nowhere/m.onnx").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadModel("/").status()));
}

}  // namespace
}  // namespace onepass::model
