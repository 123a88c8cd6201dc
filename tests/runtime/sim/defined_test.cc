// What depends on a value that nobody wrote, and what other sources decide all the same.
#include "absl/strings/str_cat.h"
#include "tests/runtime/sim/run_ptx.h"

namespace onepass::sim {
namespace {

// `body` finds an undefined word in %r1 and %d1, an undefined predicate in %p1, a true one in %p2
// and a false one in %p3, and stores %r9 or branches.
struct Row {
  const char* body;
  bool found;
};

const Row kRows[] = {
    {"and.pred %p4, %p3, %p1; selp.u32 %r9, 1, 2, %p4;", false},
    {"and.pred %p4, %p1, %p3; selp.u32 %r9, 1, 2, %p4;", false},
    {"and.pred %p4, %p2, %p1; selp.u32 %r9, 1, 2, %p4;", true},
    {"and.pred %p4, %p1, %p1; selp.u32 %r9, 1, 2, %p4;", true},
    {"or.pred %p4, %p2, %p1; selp.u32 %r9, 1, 2, %p4;", false},
    {"or.pred %p4, %p3, %p1; selp.u32 %r9, 1, 2, %p4;", true},
    {"xor.pred %p4, %p3, %p1; selp.u32 %r9, 1, 2, %p4;", true},
    {"or.pred %p4, %p1, %p3; and.pred %p5, %p3, %p4; @%p5 mov.u32 %r9, 3;", false},
    {"or.pred %p4, %p1, %p3; and.pred %p5, %p2, %p4; @%p5 mov.u32 %r9, 3;", true},
    {"and.b32 %r9, %r1, 0;", false},
    {"and.b32 %r9, %r1, 1;", true},
    {"or.b32 %r9, %r1, -1;", false},
    {"or.b32 %r9, %r1, 0x7fffffff;", true},
    {"cvt.u16.u32 %h1, %r1; or.b16 %h2, %h1, -1; cvt.u32.u16 %r9, %h2;", false},
    {"cvt.u16.u32 %h1, %r1; or.b16 %h2, %h1, 0xff; cvt.u32.u16 %r9, %h2;", true},
    {"and.b64 %d2, %d1, 0; cvt.u32.u64 %r9, %d2;", false},
    {"or.b64 %d2, %d1, 0xffffffff; cvt.u32.u64 %r9, %d2;", true},
    // (a & b) | c with c all ones; with c zero and b zero; with b not zero.
    {"lop3.b32 %r9, %r1, %r1, -1, 0xea;", false},
    {"lop3.b32 %r9, %r1, 0, 0, 0xea;", false},
    {"lop3.b32 %r9, %r1, 4, 0, 0xea;", true},
    {"setp.lt.and.s32 %p4, %r1, 5, %p3; selp.u32 %r9, 1, 2, %p4;", false},
    {"setp.lt.and.s32 %p4, %r1, 5, %p2; selp.u32 %r9, 1, 2, %p4;", true},
    {"setp.lt.and.s32 %p4, %r1, 5, !%p2; selp.u32 %r9, 1, 2, %p4;", false},
    {"setp.lt.or.s32 %p4, %r1, 5, %p2; selp.u32 %r9, 1, 2, %p4;", false},
    {"setp.lt.or.s32 %p4, %r1, 5, %p3; selp.u32 %r9, 1, 2, %p4;", true},
};

TEST(DefinedTest, WhatOneSourceDecidesIsDefined) {
  for (const Row& row : kRows) {
    const auto module = Parsed(KernelText(
        absl::StrCat(".shared .align 8 .b8 s[8]; ld.shared.u32 %r1, [s]; cvt.u64.u32 %d1, %r1;"
                     "mov.u32 %r0, %tid.x; setp.lt.s32 %p1, %r1, 5; setp.lt.u32 %p2, %r0, 99;"
                     "setp.gt.u32 %p3, %r0, 99; mov.u32 %r9, 0;\n",
                     row.body, "\nst.global.u32 [%d31], %r9;")));
    ASSERT_NE(module, nullptr) << row.body;
    Gpu gpu(Machine{.sms = 1}, {.sanitize = true});
    const uint64_t out = Upload(gpu, std::vector<uint32_t>(4), "out");
    const auto status = gpu.Launch(*module, {.entry = "k"}, Packed().Add(out).Add(out).bytes());
    EXPECT_TRUE(status.ok()) << row.body << ": " << status;
    EXPECT_EQ(!gpu.TakeFindings().empty(), row.found) << row.body;
  }
}

}  // namespace
}  // namespace onepass::sim
