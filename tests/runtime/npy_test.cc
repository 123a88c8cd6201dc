#include "runtime/npy.h"

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/npy_header.h"
#include "tests/runtime/temporary_folder.h"

namespace onepass {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TensorSpec Spec(DType dtype, Dims dims, Dims strides = {}) {
  TensorSpec spec;
  spec.dtype = dtype;
  spec.dims = dims;
  spec.strides = strides.empty() ? DenseStrides(dims, Layout::kChannelsFirst) : strides;
  return spec;
}

// Elements 0, 1, 2... in memory order.
HostTensor Counting(const TensorSpec& spec) {
  HostTensor tensor{spec, std::vector<uint8_t>(spec.span_elements() * SizeOf(spec.dtype))};
  for (size_t i = 0; i < tensor.bytes.size(); i += SizeOf(spec.dtype)) {
    tensor.bytes[i] = static_cast<uint8_t>(i / SizeOf(spec.dtype));
  }
  return tensor;
}

absl::Status Write(const std::string& path, const HostTensor& tensor) {
  NewFiles files;
  absl::Status status = WriteNpy(path, tensor, files);
  return status.ok() ? files.Commit() : status;
}

std::string ReadText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(NpyTest, HeaderIsNumPysOwn) {
  const std::string header = NpyHeaderText(DType::kF32, {2, 3});
  EXPECT_EQ(header.size(), 128u);
  EXPECT_EQ(header.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_THAT(header, HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }    "));
  EXPECT_EQ(header.back(), '\n');
  EXPECT_THAT(NpyHeaderText(DType::kBF16, {7}), HasSubstr("'<u2'"));
  EXPECT_THAT(NpyHeaderText(DType::kBF16, {7}), HasSubstr("(7,)"));
}

TEST(NpyTest, EveryTypeComesBack) {
  const TemporaryFolder folder;
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kF64, DType::kI64}) {
    for (const Dims& dims : {Dims{1}, Dims{5}, Dims{2, 3}, Dims{2, 3, 4, 5, 2}, Dims{0, 3}}) {
      const HostTensor tensor = Counting(Spec(dtype, dims));
      ASSERT_TRUE(Write(folder / "t.npy", tensor).ok());
      const auto read = ReadNpy(folder / "t.npy", tensor.spec);
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_EQ(read->bytes, tensor.bytes);
    }
  }
}

TEST(NpyTest, FilesHoldLogicalOrder) {
  const TensorSpec nhwc =
      Spec(DType::kI64, {1, 2, 1, 2}, DenseStrides({1, 2, 1, 2}, Layout::kChannelsLast));
  const std::string logical = LogicalBytes(Counting(nhwc));
  EXPECT_EQ(logical[0], 0);
  EXPECT_EQ(logical[8], 2);
  EXPECT_EQ(logical[16], 1);
  EXPECT_EQ(logical[24], 3);
  EXPECT_EQ(FromLogicalBytes(nhwc, logical).bytes, Counting(nhwc).bytes);
}

TEST(NpyTest, GapsAndRepeatsInMemoryAreNotInTheFile) {
  const TensorSpec gaps = Spec(DType::kF32, {2, 2}, {4, 1});
  EXPECT_EQ(LogicalBytes(Counting(gaps)).size(), 16u);
  EXPECT_EQ(FromLogicalBytes(gaps, std::string(16, 'a')).bytes.size(), 24u);
  const TensorSpec repeated = Spec(DType::kF32, {3, 2}, {0, 1});
  EXPECT_EQ(LogicalBytes(Counting(repeated)).size(), 24u);
  EXPECT_EQ(FromLogicalBytes(repeated, std::string(24, 'a')).bytes.size(), 8u);
}

TEST(NpyTest, KeysComeInAnyOrderAndLaterVersionsAreRead) {
  const std::string text = "{\"shape\": (2,3,), 'fortran_order':False,'descr': '<f2'}\n";
  std::string version2 = std::string("\x93NUMPY\x02\x00", 8) + static_cast<char>(text.size());
  version2 += std::string(3, '\0') + text;
  const auto header = ParseNpyHeader(version2);
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->descr, "<f2");
  EXPECT_THAT(header->shape, ElementsAre(2, 3));
  EXPECT_EQ(header->data_offset, 12 + static_cast<int64_t>(text.size()));
}

TEST(NpyTest, WrongShapeOrTypeSaysWhatWasWantedAndFound) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  ASSERT_TRUE(Write(path, Counting(Spec(DType::kF32, {2, 3}))).ok());
  for (const TensorSpec& other : {Spec(DType::kF32, {3, 2}), Spec(DType::kF16, {2, 3}),
                                  Spec(DType::kF32, {6}), Spec(DType::kF32, {2, 3, 1})}) {
    const absl::Status status = ReadNpy(path, other).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr(path));
    EXPECT_THAT(std::string(status.message()), HasSubstr("found <f4 (2,3)"));
  }
}

TEST(NpyTest, MissingFileIsNotFound) {
  const TemporaryFolder folder;
  EXPECT_TRUE(absl::IsNotFound(ReadNpy(folder / "x.npy", Spec(DType::kF32, {2})).status()));
}

TEST(NpyTest, FolderInPlaceOfAFileIsRefused) {
  const TemporaryFolder folder;
  EXPECT_TRUE(absl::IsInvalidArgument(ReadNpy(folder.path(), Spec(DType::kF32, {2})).status()));
}

TEST(NpyTest, FortranOrderIsRefusedWhereItMatters) {
  const TemporaryFolder folder;
  ASSERT_TRUE(Write(folder / "x.npy", Counting(Spec(DType::kF32, {2, 3}))).ok());
  std::string text = ReadText(folder / "x.npy");
  text.replace(text.find("False"), 5, "True ");
  WriteText(folder / "x.npy", text);
  const absl::Status status = ReadNpy(folder / "x.npy", Spec(DType::kF32, {2, 3})).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("Fortran"));
}

TEST(NpyTest, EveryTruncationIsRefused) {
  const TemporaryFolder folder;
  const TensorSpec spec = Spec(DType::kF32, {2, 3});
  ASSERT_TRUE(Write(folder / "x.npy", Counting(spec)).ok());
  const std::string whole = ReadText(folder / "x.npy");
  for (size_t size = 0; size < whole.size(); ++size) {
    WriteText(folder / "x.npy", whole.substr(0, size));
    EXPECT_TRUE(absl::IsInvalidArgument(ReadNpy(folder / "x.npy", spec).status())) << size;
  }
  WriteText(folder / "x.npy", whole + "more");
  EXPECT_TRUE(absl::IsInvalidArgument(ReadNpy(folder / "x.npy", spec).status()));
}

TEST(NpyTest, NoChangedHeaderByteIsTrusted) {
  const TemporaryFolder folder;
  const TensorSpec spec = Spec(DType::kF32, {2, 3});
  ASSERT_TRUE(Write(folder / "x.npy", Counting(spec)).ok());
  const std::string whole = ReadText(folder / "x.npy");
  int accepted = 0;
  for (size_t at = 0; at < 128; ++at) {
    for (const int byte : {0, 1, 32, 39, 40, 41, 48, 57, 58, 123, 125, 255}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(byte);
      WriteText(folder / "x.npy", changed);
      const auto read = ReadNpy(folder / "x.npy", spec);
      if (!read.ok()) continue;
      EXPECT_EQ(read->bytes.size(), 24u);
      ++accepted;
    }
  }
  EXPECT_GT(accepted, 0);  // the padding may change
}

TEST(NpyTest, HugeNumbersAreNotTrusted) {
  for (const std::string shape :
       {"(99999999999999999999,)", "(-1,)", "(3)", "(3 4)", "(,)", "(1", "1"}) {
    const std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}";
    const std::string file =
        std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text;
    EXPECT_FALSE(ParseNpyHeader(file).ok()) << shape;
  }
}

TEST(NpyTest, PipesAndFoldersAreRefusedAndNotWaitedFor) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe.npy").c_str(), 0600), 0);
  std::filesystem::create_directory(folder / "folder.npy");
  for (const char* name : {"pipe.npy", "folder.npy"}) {
    const absl::Status status = ReadNpy(folder / name, Spec(DType::kF32, {2})).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  }
}

TEST(NpyTest, LinkThatLeadsNowhereIsAnError) {
  const TemporaryFolder folder;
  EXPECT_TRUE(absl::IsNotFound(ReadNpy(folder / "x.npy", Spec(DType::kF32, {2})).status()));
  std::filesystem::create_symlink(folder / "gone.npy", folder / "x.npy");
  const absl::Status status = ReadNpy(folder / "x.npy", Spec(DType::kF32, {2})).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder / "x.npy"));
}

}  // namespace
}  // namespace onepass
