#include "runtime/binary.h"

#include <string>

#include "gtest/gtest.h"

namespace onepass {
namespace {

KernelResources Kernel(const std::string& name, int registers) {
  KernelResources kernel;
  kernel.name = name;
  kernel.registers = registers;
  kernel.local_bytes = 40;
  kernel.spill_bytes = 24;
  kernel.static_shared_bytes = 1200;
  kernel.code_bytes = int64_t{5} << 32;
  return kernel;
}

Binary Sample() {
  Binary binary;
  binary.arch = "sm_90";
  binary.cubin = {0x7f, 'E', 'L', 'F', 0, 1, 2};
  binary.ptx = ".version 9.0\n";
  binary.log = "warning: something\n";
  binary.resources = {Kernel("first", 32), Kernel("second", 255)};
  return binary;
}

TEST(BinaryTest, RoundTrips) {
  absl::StatusOr<Binary> parsed = ParseBinary(SerializeBinary(Sample()));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, Sample());
  parsed = ParseBinary(SerializeBinary(Binary()));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, Binary());
}

TEST(BinaryTest, TimeOfCompilingIsNotKept) {
  Binary timed = Sample();
  timed.compile_ms = 123;
  EXPECT_EQ(SerializeBinary(timed), SerializeBinary(Sample()));
}

TEST(BinaryTest, EveryTruncationAndAnythingLeftOverIsNoticed) {
  const std::string good = SerializeBinary(Sample());
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_TRUE(absl::IsDataLoss(ParseBinary(good.substr(0, size)).status())) << size << " bytes";
  }
  EXPECT_TRUE(absl::IsDataLoss(ParseBinary(good + "x").status()));
}

TEST(BinaryTest, LengthsAreNotTrusted) {
  const std::string good = SerializeBinary(Sample());
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = '\xff';
    // Bytes inside of fields may be anything; no length may lead outside.
    ParseBinary(bad).status().IgnoreError();
  }
}

}  // namespace
}  // namespace onepass
