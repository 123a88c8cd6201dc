#include "runtime/onnx/tensor.h"

#include <cmath>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"
#include "tests/runtime/temporary_folder.h"

namespace onepass::model {
namespace {

using ::testing::HasSubstr;

onnx::TensorProto Proto(int type, const Shape& shape) {
  onnx::TensorProto proto;
  proto.set_data_type(type);
  for (const int64_t size : shape) proto.add_dims(size);
  return proto;
}

TEST(OnnxTensorTest, TypedAndRawDataAreTheSame) {
  onnx::TensorProto typed = Proto(onnx::TensorProto::FLOAT, {2});
  typed.add_float_data(1.5F);
  typed.add_float_data(-2.0F);
  onnx::TensorProto raw = Proto(onnx::TensorProto::FLOAT, {2});
  raw.set_raw_data(std::string("\0\0\xc0\x3f\0\0\0\xc0", 8));
  EXPECT_EQ(TensorOf(typed)->bytes, TensorOf(raw)->bytes);
  EXPECT_EQ(ValueAt(*TensorOf(raw), 1), -2.0);
}

TEST(OnnxTensorTest, HalfTypesLieInIntegers) {
  onnx::TensorProto half = Proto(onnx::TensorProto::FLOAT16, {6});
  for (const int bits : {0x3c00, 0xc000, 0x0001, 0x7c00, 0x7e00, 0x03ff}) half.add_int32_data(bits);
  const Tensor tensor = *TensorOf(half);
  EXPECT_EQ(ValueAt(tensor, 0), 1.0);
  EXPECT_EQ(ValueAt(tensor, 1), -2.0);
  EXPECT_EQ(ValueAt(tensor, 2), std::ldexp(1.0, -24));
  EXPECT_TRUE(std::isinf(ValueAt(tensor, 3)));
  EXPECT_TRUE(std::isnan(ValueAt(tensor, 4)));
  EXPECT_EQ(ValueAt(tensor, 5), std::ldexp(1023.0, -24));
  onnx::TensorProto bfloat = Proto(onnx::TensorProto::BFLOAT16, {1});
  bfloat.add_int32_data(0x4040);
  EXPECT_EQ(ValueAt(*TensorOf(bfloat), 0), 3.0);
}

TEST(OnnxTensorTest, OtherTypesAreNotSupported) {
  for (const int type : {7, 3, 9, 8, 999}) {
    EXPECT_TRUE(absl::IsUnimplemented(TensorOf(Proto(type, {0})).status())) << type;
  }
  EXPECT_THAT(std::string(DTypeOf(onnx::TensorProto::INT8).status().message()), HasSubstr("INT8"));
}

TEST(OnnxTensorTest, DataMustFitTheShape) {
  for (const Shape& shape : {Shape{3}, Shape{-1}, Shape{int64_t{1} << 62, int64_t{1} << 62},
                             Shape{int64_t{1} << 32, int64_t{1} << 32}}) {
    onnx::TensorProto proto = Proto(onnx::TensorProto::FLOAT, shape);
    proto.set_raw_data("12345678");
    EXPECT_TRUE(absl::IsInvalidArgument(TensorOf(proto).status()));
  }
  EXPECT_TRUE(TensorOf(Proto(onnx::TensorProto::FLOAT, {0, 3})).ok());
}

TEST(OnnxTensorTest, ExternalDataIsNotSupported) {
  onnx::TensorProto proto = Proto(onnx::TensorProto::FLOAT, {1});
  proto.set_data_location(onnx::TensorProto::EXTERNAL);
  EXPECT_TRUE(absl::IsUnimplemented(TensorOf(proto).status()));
}

TEST(OnnxTensorTest, UnreadableFileIsNamed) {
  const TemporaryFolder folder;
  std::ofstream(folder / "bad.pb") << "no tensor at all";
  for (const std::string& path : {folder / "bad.pb", folder / "none.pb", folder.path()}) {
    const absl::Status status = ReadTensorFile(path).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << path;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path));
  }
}

}  // namespace
}  // namespace onepass::model
