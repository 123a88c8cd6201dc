#include "runtime/sim/module.h"

#include "tests/runtime/sim/run_ptx.h"

namespace onepass::sim {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ModuleTest, EntriesStateTheirParametersAndResources) {
  const auto module = Parsed(R"(.version 9.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 .ptr .align 1 a, .param .u32 n, .param .align 8 .b8 s[24], .param .u8 c)
.maxntid 256, 2
{
  .shared .align 16 .b8 tile[96];
  .local .align 16 .b8 depot[40];
  .reg .b32 %r<3>;
  mov.u32 %r1, tile;
  ret;
})");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->target(), "sm_80");
  ASSERT_EQ(module->entries().size(), 1u);
  const Entry& entry = module->entries()[0];
  std::vector<int64_t> offsets;
  for (const Parameter& parameter : entry.parameters) offsets.push_back(parameter.offset);
  EXPECT_THAT(offsets, ElementsAre(0, 8, 16, 40));
  EXPECT_EQ(entry.parameter_bytes, 41);
  EXPECT_EQ(entry.static_shared_bytes, 96);
  EXPECT_EQ(entry.local_bytes_per_thread, 48);
  EXPECT_EQ(entry.max_threads, 512u);
  EXPECT_EQ(module->FindEntry("other"), nullptr);
}

TEST(ModuleTest, ScopedBlocksMayRepeatNames) {
  const auto out = Outputs<uint32_t>(R"(
    ld.u32 %r1, [%d30];
    { .reg .u32 %r1; .reg .pred p; mov.u32 %r1, 7; setp.eq.u32 p, %r1, 7; @p bra DONE; trap; DONE: }
    { .reg .u32 %r1; .reg .pred p; mov.u32 %r1, 9; setp.eq.u32 p, %r1, 9; @p bra DONE; trap; DONE: }
    st.u32 [%d31], %r1;)",
                                     std::vector<uint32_t>{5}, 1);
  EXPECT_THAT(out, ElementsAre(5));
}

TEST(ModuleTest, LiteralsVectorsSinksAndOffsets) {
  const auto out = Outputs<uint32_t>(R"(
    ld.v4.u32 {%r1, _, %r2, %r3}, [%d30];
    mov.f32 %f1, 0f3F800000; mov.f64 %g1, 0d4000000000000000; cvt.rn.f32.f64 %f2, %g1;
    add.f32 %f3, %f1, %f2; mov.b32 %r4, %f3;
    mov.b64 %d1, {%r1, %r2}; shr.u64 %d2, %d1, 32; cvt.u32.u64 %r5, %d2;
    st.global.v2.u32 [%d31], {%r4, %r5};
    ld.const.u32 %r6, [table+4]; st.u32 [%d31+8], %r6;
    st.u32 [%d31+12], -2;)",
                                     std::vector<uint32_t>{1, 2, 3, 4}, 4, 1,
                                     ".const .align 4 .u32 table[3] = {10, 0x14, 30};\n");
  EXPECT_THAT(out, ElementsAre(0x40400000u, 3, 20, 0xfffffffeu));
}

TEST(ModuleTest, CallsReturnTheirResults) {
  const char* incr = R"(.func (.param .b32 r) incr(.param .b32 a) {
    .reg .b32 %r<3>; ld.param.b32 %r1, [a]; add.u32 %r2, %r1, 1; st.param.b32 [r], %r2; ret; }
)";
  const std::string call =
      "{ .param .b32 x; .param .b32 y; ld.u32 %r1, [%d30]; st.param.b32 [x], %r1;\n"
      "call.uni (y), incr, (x); ld.param.b32 %r2, [y]; st.u32 [%d31], %r2; }";
  EXPECT_THAT(Outputs<uint32_t>(call, std::vector<uint32_t>{41}, 1, 1, incr), ElementsAre(42));
}

TEST(ModuleTest, BranchesThroughATable) {
  const auto out = Outputs<uint32_t>(R"(
    mov.u32 %r0, %tid.x;
    table: .branchtargets A, B, C;
    brx.idx %r0, table;
    A: mov.u32 %r9, 10; bra END;
    B: mov.u32 %r9, 20; bra END;
    C: mov.u32 %r9, 30;
    END: mul.wide.u32 %d1, %r0, 4; add.u64 %d2, %d31, %d1; st.u32 [%d2], %r9;)",
                                     std::vector<uint32_t>{0}, 3, 3);
  EXPECT_THAT(out, ElementsAre(10, 20, 30));
}

TEST(ModuleTest, InitialisersMayHoldAddresses) {
  const auto out = Outputs<uint32_t>(
      "ld.global.u64 %d1, [pointer]; ld.u32 %r1, [%d1]; st.u32 [%d31], %r1;",
      std::vector<uint32_t>{0}, 1, 1,
      ".global .u32 value[2] = {3, 77};\n.global .u64 pointer = generic(value)+4;\n");
  EXPECT_THAT(out, ElementsAre(77));
}

TEST(ModuleTest, UnknownFormIsOneErrorThatNamesFormAndLine) {
  const auto module = Module::Parse(KernelText("\nfrob.sync.u32 %r1, %r2;"));
  EXPECT_EQ(module.status().code(), absl::StatusCode::kUnimplemented);
  const std::string message(module.status().message());
  EXPECT_THAT(message, AllOf(HasSubstr("'frob.sync.u32'"), HasSubstr("PTX line 10")));
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(ModuleTest, UnknownModifierMakesTheFormUnknown) {
  for (const char* text :
       {"add.rn.sometimes.f32 %f1, %f2, %f3;", "ld.global.L3::128B.u32 %r1, [%d30];",
        "cvt.rn.u128.u32 %d1, %r1;", "bra.maybe X;", "cp.async.bulk.commit_groups;",
        "st.async.b32 [%r0], %r1, [%r2];"}) {
    const auto module = Module::Parse(KernelText(text));
    EXPECT_EQ(module.status().code(), absl::StatusCode::kUnimplemented) << text;
  }
}

TEST(ModuleTest, BrokenTextIsAnErrorAndNeverACrash) {
  const std::string good = KernelText("ld.v2.u32 {%r1, %r2}, [%d30+4]; st.u32 [%d31], %r1;");
  for (size_t cut = 0; cut < good.size(); ++cut) {
    EXPECT_FALSE(Module::Parse(good.substr(0, cut)).ok() && cut > 60 && cut + 2 < good.size());
    std::string changed = good;
    changed[cut] = "}{;,.%[]@!x0"[cut % 12];
    (void)Module::Parse(changed);
  }
  (void)Module::Parse(std::string(100000, '{'));
  (void)Module::Parse(".target sm_90\n.global .u32 a[] = " + std::string(100000, '{'));
  (void)Module::Parse(KernelText("mov.u32 %r1, " + std::string(100000, '{') + ";"));
}

TEST(ModuleTest, RegistersOfAnotherWidthAreRefused) {
  const auto module = Module::Parse(KernelText("add.u32 %r1, %r2, %d3;"));
  EXPECT_EQ(module.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(module.status().message()), HasSubstr("'%d3'"));
}

}  // namespace
}  // namespace onepass::sim
