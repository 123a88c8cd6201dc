// What is read from real cubins of three archs is in nvrtc_test.cc.
#include "runtime/cubin.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace onepass {
namespace {

TEST(ReadCubinTest, WhatIsNoElfFileIsDataLoss) {
  const std::vector<std::string> names = {"k"};
  EXPECT_TRUE(absl::IsDataLoss(ReadCubin({}, names).status()));
  const std::vector<uint8_t> zeroes(4096, 0);
  EXPECT_TRUE(absl::IsDataLoss(ReadCubin(zeroes, names).status()));
  std::vector<uint8_t> only_magic(4096, 0xff);
  std::copy_n(
      "\x7f"
      "ELF\2",
      5, only_magic.begin());
  EXPECT_TRUE(absl::IsDataLoss(ReadCubin(only_magic, names).status()));
}

TEST(PtxasRemarksTest, SpillsAreTakenAndTheRestIsKept) {
  std::vector<KernelResources> kernels(2);
  kernels[0].name = "a";
  kernels[1].name = "b";
  kernels[1].spill_bytes = 99;
  EXPECT_EQ(TakePtxasRemarks("k.cu(1): warning: one\n"
                             "ptxas info    : Compiling entry function 'a' for 'sm_90'\n"
                             "ptxas info    : Function properties for a\n"
                             "ptxas         .     16 bytes stack frame, 12 bytes spill stores, "
                             "8 bytes spill loads\n"
                             "ptxas info    : Function properties for called_by_a\n"
                             "ptxas         .     16 bytes stack frame, 7 bytes spill stores, "
                             "8 bytes spill loads\n"
                             "ptxas warning : two\n",
                             kernels),
            "k.cu(1): warning: one\nptxas warning : two\n");
  EXPECT_EQ(kernels[0].spill_bytes, 12);
  EXPECT_EQ(kernels[1].spill_bytes, 99) << "of what the log does not speak of nothing changes";
}

}  // namespace
}  // namespace onepass
