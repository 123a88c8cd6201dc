// Values of single instructions: what the PTX ISA says, not what the host would do.
#include "runtime/sim/exec.h"

#include <bit>
#include <cmath>
#include <limits>

#include "tests/runtime/sim/run_ptx.h"

namespace onepass::sim {
namespace {

using testing::ElementsAre;

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::bit_cast<float>(0x7fffffffu);

uint32_t Bits(float value) { return std::bit_cast<uint32_t>(value); }

// One result of up to three 32-bit sources, by `text` on %r4 = f(%r1, %r2, %r3) (or %f, %h).
uint32_t Value(const std::string& text, uint32_t a, uint32_t b = 0, uint32_t c = 0) {
  return Outputs<uint32_t>(
      "ld.u32 %r1, [%d30]; ld.u32 %r2, [%d30+4]; ld.u32 %r3, [%d30+8];\n"
      "mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.b32 %f3, %r3; mov.b32 %r4, 0; mov.b32 %f4, %r4;\n"
      "cvt.u16.u32 %h1, %r1; cvt.u16.u32 %h2, %r2; cvt.u16.u32 %h3, %r3; mov.b16 %h4, 0;\n" +
          text +
          "\nmov.b32 %r5, %f4; or.b32 %r4, %r4, %r5; cvt.u32.u16 %r6, %h4; or.b32 %r4, %r4, %r6;\n"
          "st.u32 [%d31], %r4;",
      std::vector<uint32_t>{a, b, c}, 1)[0];
}

struct Row {
  const char* text;
  uint32_t a;
  uint32_t b;
  uint32_t c;
  uint32_t want;
};

class ExecTest : public testing::TestWithParam<Row> {};

TEST_P(ExecTest, GivesTheValueOfTheIsa) {
  const Row& row = GetParam();
  EXPECT_EQ(Value(row.text, row.a, row.b, row.c), row.want) << row.text;
}

const Row kFloatRows[] = {
    {"min.f32 %f4, %f1, %f2;", Bits(1), Bits(kNan), 0, Bits(1)},
    {"max.f32 %f4, %f1, %f2;", 0xffc12345u, 0x7fc54321u, 0, 0x7fffffffu},
    {"max.NaN.f32 %f4, %f1, %f2;", Bits(1), 0xffc12345u, 0, 0x7fffffffu},
    {"min.f32 %f4, %f1, %f2;", Bits(0.0f), Bits(-0.0f), 0, Bits(-0.0f)},
    {"max.f32 %f4, %f1, %f2;", Bits(-0.0f), Bits(0.0f), 0, Bits(0.0f)},
    {"min.xorsign.abs.f32 %f4, %f1, %f2;", Bits(-3), Bits(2), 0, Bits(-2)},
    {"add.f32 %f4, %f1, %f2;", Bits(kInf), Bits(-kInf), 0, 0x7fffffffu},
    {"add.ftz.f32 %f4, %f1, %f2;", 0x00800000u, 0x807fffffu, 0, 0x00800000u},
    {"add.f32 %f4, %f1, %f2;", 0x00800000u, 0x807fffffu, 0, 1},
    {"mul.ftz.f32 %f4, %f1, %f2;", 0x80400000u, Bits(0.5f), 0, 0x80000000u},
    {"add.sat.f32 %f4, %f1, %f2;", Bits(kNan), Bits(1), 0, 0},
    {"add.sat.f32 %f4, %f1, %f2;", Bits(3), Bits(1), 0, Bits(1)},
    {"add.rz.f32 %f4, %f1, %f2;", Bits(1), Bits(-0x1p-30f), 0, 0x3f7fffffu},
    {"add.rp.f32 %f4, %f1, %f2;", Bits(1), Bits(0x1p-30f), 0, 0x3f800001u},
    {"mul.rm.f32 %f4, %f1, %f2;", Bits(-1), 0x3f800001u, 0, 0xbf800001u},
    {"fma.rz.f32 %f4, %f1, %f2, %f3;", Bits(1), Bits(1), Bits(0x1p-30f), Bits(1)},
    {"fma.rn.f32 %f4, %f1, %f2, %f3;", 0x3f800001u, 0x3f800001u, 0xbf800002u, 0x28800000u},
    {"div.rn.f32 %f4, %f1, %f2;", Bits(1), Bits(3), 0, 0x3eaaaaabu},
    {"rcp.approx.f32 %f4, %f1;", Bits(-0.0f), 0, 0, Bits(-kInf)},
    {"rcp.approx.ftz.f32 %f4, %f1;", 0x00000001u, 0, 0, Bits(kInf)},
    {"rsqrt.approx.f32 %f4, %f1;", Bits(-1), 0, 0, 0x7fffffffu},
    {"rsqrt.approx.f32 %f4, %f1;", Bits(-0.0f), 0, 0, Bits(-kInf)},
    {"sqrt.approx.f32 %f4, %f1;", Bits(-0.0f), 0, 0, Bits(-0.0f)},
    {"ex2.approx.f32 %f4, %f1;", Bits(-kInf), 0, 0, 0},
    {"ex2.approx.f32 %f4, %f1;", Bits(-149), 0, 0, 1},
    {"ex2.approx.ftz.f32 %f4, %f1;", Bits(-127), 0, 0, 0},
    {"ex2.approx.f32 %f4, %f1;", Bits(128), 0, 0, Bits(kInf)},
    {"ex2.approx.f32 %f4, %f1;", 0xffc00001u, 0, 0, 0x7fffffffu},
    {"lg2.approx.f32 %f4, %f1;", Bits(512), 0, 0, Bits(9)},
    {"lg2.approx.f32 %f4, %f1;", Bits(-0.0f), 0, 0, Bits(-kInf)},
    {"lg2.approx.f32 %f4, %f1;", Bits(-1), 0, 0, 0x7fffffffu},
    {"lg2.approx.f32 %f4, %f1;", 1, 0, 0, Bits(-149)},
    {"lg2.approx.f32 %f4, %f1;", Bits(kInf), 0, 0, Bits(kInf)},
    {"tanh.approx.f32 %f4, %f1;", Bits(-0.0f), 0, 0, Bits(-0.0f)},
    {"tanh.approx.f32 %f4, %f1;", Bits(kInf), 0, 0, Bits(1)},
    {"div.approx.f32 %f4, %f1, %f2;", Bits(kInf), Bits(0x1.8p126f), 0, 0x7fffffffu},
    {"div.approx.f32 %f4, %f1, %f2;", Bits(-2), Bits(0x1.8p126f), 0, Bits(-0.0f)},
    {"setp.gtu.f32 %p1, %f1, %f2; selp.b32 %r4, 1, 2, %p1;", Bits(kNan), 0, 0, 1},
    {"setp.ne.f32 %p1, %f1, %f2; selp.b32 %r4, 1, 2, %p1;", Bits(kNan), 0, 0, 2},
    {"setp.neu.f32 %p1, %f1, %f2; selp.b32 %r4, 1, 2, %p1;", Bits(kNan), 0, 0, 1},
    {"setp.lt.and.f32 %p1|%p2, %f1, %f2, !%p3; selp.b32 %r4, 1, 2, %p1;", Bits(1), Bits(2), 0, 1},
    {"copysign.f32 %f4, %f1, %f2;", Bits(-3), Bits(2), 0, Bits(-2)},
};
INSTANTIATE_TEST_SUITE_P(Float, ExecTest, testing::ValuesIn(kFloatRows));

const Row kIntegerRows[] = {
    {"shl.b32 %r4, %r1, %r2;", 1, 32, 0, 0},
    {"shr.s32 %r4, %r1, %r2;", 0x80000000u, 100, 0, 0xffffffffu},
    {"shf.l.wrap.b32 %r4, %r1, %r2, %r3;", 0x12345678u, 0x9abcdef0u, 44, 0xcdef0123u},
    {"shf.r.clamp.b32 %r4, %r1, %r2, %r3;", 0x12345678u, 0x9abcdef0u, 44, 0x9abcdef0u},
    {"prmt.b32 %r4, %r1, %r2, 30212;", 0x70c507d6u, 0x6fbd4b5cu, 0, 0x6fbdd65cu},
    {"prmt.b32 %r4, %r1, %r2, 0x8;", 0x80u, 0, 0, 0x808080ffu},
    {"bfe.s32 %r4, %r1, 4, 8;", 0xf80u, 0, 0, 0xfffffff8u},
    {"bfe.u32 %r4, %r1, 28, 8;", 0xa0000000u, 0, 0, 0xau},
    {"bfi.b32 %r4, %r1, %r2, 8, 4;", 0xfu, 0, 0, 0xf00u},
    {"bfind.shiftamt.u32 %r4, %r1;", 0x2cd1a4c1u, 0, 0, 2},
    {"bfind.s32 %r4, %r1;", 0xffffffffu, 0, 0, 0xffffffffu},
    {"brev.b32 %r4, %r1;", 0xc75baefbu, 0, 0, 0xdf75dae3u},
    {"clz.b32 %r4, %r1;", 0, 0, 0, 32},
    {"add.sat.s32 %r4, %r1, %r2;", 0x80000000u, 0xffffffffu, 0, 0x80000000u},
    {"mul.hi.s32 %r4, %r1, %r2;", 0xffffffffu, 2, 0, 0xffffffffu},
    {"mul24.hi.s32 %r4, %r1, %r2;", 0xff8aaaabu, 0x755555u, 0, 0xca38e3dcu},
    {"div.s32 %r4, %r1, %r2;", 0x80000000u, 0xffffffffu, 0, 0x80000000u},
    {"rem.s32 %r4, %r1, %r2;", 0xfffffff9u, 3, 0, 0xffffffffu},
    {"sad.s32 %r4, %r1, %r2, %r3;", 5, 0xfffffffeu, 10, 17},
    {"dp4a.s32.s32 %r4, %r1, %r2, %r3;", 0x8e2da590u, 0xedeaee14u, 0x248a9f70u, 0x248aa1aeu},
    {"add.cc.u32 %r4, %r1, %r2; addc.u32 %r4, 0, 0;", 0xffffffffu, 1, 0, 1},
    {"sub.cc.u32 %r4, %r1, %r2; subc.u32 %r4, 0, 0;", 0, 1, 0, 0xffffffffu},
    {"add.u16x2 %r4, %r1, %r2;", 0x0001ffffu, 0x00010001u, 0, 0x00020000u},
    {"max.s16x2 %r4, %r1, %r2;", 0xffff0001u, 0x0000fff0u, 0, 0x00000001u},
    {"cvt.sat.u8.s32 %r4, %r1;", 0xfffffeffu, 0, 0, 0},
    {"cvt.s32.s8 %r4, %r1;", 0x1ff, 0, 0, 0xffffffffu},
    {"lop3.b32 %r4, %r1, %r2, %r3, 0x96;", 5, 3, 9, 5 ^ 3 ^ 9},
    {"mov.b32 %r4, {%h1, %h2};", 0x1234, 0x5678, 0, 0x56781234u},
};

const Row kConvertRows[] = {
    {"cvt.rzi.s32.f32 %r4, %f1;", Bits(kNan), 0, 0, 0},
    {"cvt.rzi.s32.f32 %r4, %f1;", Bits(3e9f), 0, 0, 0x7fffffffu},
    {"cvt.rzi.s32.f32 %r4, %f1;", Bits(-3e9f), 0, 0, 0x80000000u},
    {"cvt.rzi.u32.f32 %r4, %f1;", Bits(-1), 0, 0, 0},
    {"cvt.rni.s32.f32 %r4, %f1;", Bits(2.5f), 0, 0, 2},
    {"cvt.rmi.s32.f32 %r4, %f1;", Bits(-2.5f), 0, 0, 0xfffffffdu},
    {"cvt.rpi.s32.f32 %r4, %f1;", 1, 0, 0, 1},
    {"cvt.rpi.ftz.s32.f32 %r4, %f1;", 1, 0, 0, 0},
    {"cvt.rni.f32.f32 %f4, %f1;", Bits(9.5f), 0, 0, Bits(10)},
    {"cvt.sat.f32.f32 %f4, %f1;", Bits(kNan), 0, 0, 0},
    {"cvt.rz.f32.u32 %f4, %r1;", 0xffffffffu, 0, 0, 0x4f7fffffu},
    {"cvt.rn.f16.f32 %h4, %f1;", Bits(65520), 0, 0, 0x7c00},
    {"cvt.rz.f16.f32 %h4, %f1;", Bits(65520), 0, 0, 0x7bff},
    {"cvt.rn.f16.f32 %h4, %f1;", 0xffc00001u, 0, 0, 0x7fff},
    {"cvt.rn.bf16.f32 %h4, %f1;", 0x3f808000u, 0, 0, 0x3f80},
    {"cvt.rn.f16x2.f32 %r4, %f1, %f2;", Bits(1), Bits(2), 0, 0x3c004000u},
    {"cvt.rn.relu.f16x2.f32 %r4, %f1, %f2;", Bits(-1), Bits(1), 0, 0x00003c00u},
    {"cvt.rn.bf16x2.f32 %r4, %f1, %f2;", Bits(0.40625f), Bits(12.9f), 0, 0x3ed0414eu},
    {"cvt.rn.satfinite.e5m2x2.f32 %h4, %f1, %f2;", Bits(0.375f), Bits(-5256.6f), 0, 0x36edu},
    {"cvt.rn.f16x2.e5m2x2 %r4, %h1;", 0x36ed, 0, 0, 0x3600ed00u},
    {"cvt.rna.tf32.f32 %r4, %f1;", 0x3f801000u, 0, 0, 0x3f802000u},
    {"fma.rn.f16 %h4, %h1, %h2, %h3;", 0x3c01, 0x3c01, 0x0001, 0x3c02},
    {"fma.rn.bf16x2 %r4, %r1, %r2, %r3;", 0x40004040u, 0x40404040u, 0x40a04040u, 0x41304140u},
    {"max.f16 %h4, %h1, %h2;", 0x7e00, 0, 0, 0},
    {"set.gt.f16x2.f16x2 %r4, %r1, %r2;", 0x38d38000u, 0x35aa0000u, 0, 0x3c000000u},
    {"ex2.approx.ftz.bf16 %h4, %h1;", 0x0001, 0, 0, 0x3f80},
    {"tanh.approx.f16 %h4, %h1;", 0x7c00, 0, 0, 0x3c00},
};
INSTANTIATE_TEST_SUITE_P(Integer, ExecTest, testing::ValuesIn(kIntegerRows));
INSTANTIATE_TEST_SUITE_P(Convert, ExecTest, testing::ValuesIn(kConvertRows));

// Largest error of an approximate function over a sweep, in units of 2^-23 relative.
double WorstError(const std::string& op, double (*exact)(double), float from, float to) {
  std::vector<float> in;
  for (float x = from; x < to; x += (to - from) / 32768) in.push_back(x);
  in.resize(32768);
  const auto out = Outputs<float>(
      "mov.u32 %r1, %tid.x; L: mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %d30, %d1;\n"
      "add.u64 %d3, %d31, %d1; ld.f32 %f1, [%d2]; " +
          op +
          " %f2, %f1; st.f32 [%d3], %f2;\n"
          "add.u32 %r1, %r1, 1024; setp.lt.u32 %p1, %r1, 32768; @%p1 bra L;",
      in, in.size(), 1024);
  double worst = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    const double want = exact(in[i]);
    if (std::fabs(want) < 0x1p-100) continue;
    worst = std::max(worst, std::fabs(out[i] - want) / std::fabs(want) * 0x1p23);
  }
  return worst;
}

TEST(ApproxTest, ErrorsStayWithinTheDocumentedBounds) {
  EXPECT_LE(WorstError("ex2.approx.f32", std::exp2, -120, 120), 2);
  EXPECT_LE(WorstError("ex2.approx.f32", std::exp2, -1, 1), 2);
  EXPECT_LE(WorstError("lg2.approx.f32", std::log2, 2, 1e6), 2);
  EXPECT_LE(WorstError("lg2.approx.f32", std::log2, 1.0001, 1.01), 2);
  EXPECT_LE(WorstError(
                "rsqrt.approx.f32", [](double x) { return 1 / std::sqrt(x); }, 0.01, 100),
            1.07);
  EXPECT_LE(WorstError("tanh.approx.f32", std::tanh, -6, 6), 1 << 12);
  EXPECT_LE(WorstError("tanh.approx.f32", std::tanh, -0.3, 0.3), 1 << 12);
}

TEST(ConvertTest, DoublesConvertWithAllTheirBits) {
  const auto out =
      Outputs<uint64_t>(R"(
    ld.f64 %g1, [%d30]; cvt.rzi.s64.f64 %d1, %g1; st.u64 [%d31], %d1;
    cvt.rn.f32.f64 %f1, %g1; cvt.f64.f32 %g2, %f1; st.f64 [%d31+8], %g2;
    ld.u64 %d2, [%d30+8]; cvt.rn.f64.u64 %g3, %d2; st.f64 [%d31+16], %g3;
    mov.u64 %d3, 0x7fffffffffffffff; cvt.rp.f32.s64 %f2, %d3; cvt.f64.f32 %g4, %f2; st.f64 [%d31+24], %g4;)",
                        std::vector<uint64_t>{std::bit_cast<uint64_t>(-1e300), ~0ull}, 4);
  EXPECT_THAT(out, ElementsAre(uint64_t{1} << 63, std::bit_cast<uint64_t>(-HUGE_VAL),
                               std::bit_cast<uint64_t>(0x1p64), std::bit_cast<uint64_t>(0x1p63)));
}

// Global additions flush, shared ones do not, whatever space the instruction leaves open.
TEST(AtomicTest, GenericAdditionsFlushInGlobalMemoryOnly) {
  const auto out = Outputs<uint32_t>(R"(
    .shared .b32 word; mov.u32 %r1, 3; mov.b32 %f1, %r1;
    mov.u64 %d1, word; cvta.shared.u64 %d2, %d1; st.shared.u32 [word], 4;
    atom.add.f32 %f2, [%d2], %f1; red.add.f32 [%d2], %f1; ld.shared.u32 %r2, [word];
    st.u32 [%d31], %r2; st.u32 [%d31+4], 4;
    atom.add.f32 %f3, [%d31+4], %f1;)",
                                     std::vector<uint32_t>{0}, 2);
  EXPECT_THAT(out, ElementsAre(10, 0));
}

}  // namespace
}  // namespace onepass::sim
