// Text that is no good module: one error of one line each, whatever it is. Most are what the fuzzer
// found, made small; tests/runtime/sim/fuzz.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/runtime/sim/run_ptx.h"

namespace onepass::sim {
namespace {

using testing::HasSubstr;

constexpr char kHead[] = ".version 9.0\n.target sm_90\n.address_size 64\n";

std::string MessageOf(const std::string& ptx) {
  return std::string(Module::Parse(ptx).status().message());
}
std::string MessageOfBody(const std::string& body) { return MessageOf(KernelText(body)); }

TEST(BadPtxTest, TruncatedText) {
  EXPECT_EQ(MessageOf(absl::StrCat(kHead, ".entry k() {\n ret;")),
            "PTX line 5: function without its closing brace");
  EXPECT_EQ(MessageOf(absl::StrCat(kHead, ".entry k() {\n ret")),
            "PTX line 5: instruction without its semicolon");
  EXPECT_EQ(MessageOf(absl::StrCat(kHead, ".entry k() {\n /* ret")),
            "PTX line 5: comment without an end");
  EXPECT_EQ(MessageOf(absl::StrCat(kHead, ".entry k(.param .u64 \"a) {\n ret; }\n//\"")),
            "PTX line 4: string without an end");
  EXPECT_EQ(MessageOf(".version 9.0\n"), "PTX without .target");
  EXPECT_EQ(MessageOf(""), "PTX without .version");
}

TEST(BadPtxTest, WrongVersion) {
  const auto with = [](const std::string& version) {
    return MessageOf(absl::StrCat(".version ", version, "\n.target sm_90\n.entry k() { ret; }"));
  };
  EXPECT_EQ(with("9.3"), "");
  EXPECT_EQ(with("6.0"), "");
  EXPECT_EQ(with("10.0"), "PTX line 1: PTX of version '10.0'; known are 1.0 to 9.x");
  EXPECT_EQ(with("0.9"), "PTX line 1: PTX of version '0.9'; known are 1.0 to 9.x");
  EXPECT_EQ(with("x"), "PTX line 1: PTX of version 'x'; known are 1.0 to 9.x");
  EXPECT_EQ(MessageOf(".target sm_90\n.entry k() { ret; }"), "PTX without .version");
}

TEST(BadPtxTest, DeclarationsOfAnySize) {
  const auto top = [](const std::string& text) { return MessageOf(absl::StrCat(kHead, text)); };
  EXPECT_EQ(top(".global .b8 a[4294967296][4294967296];"), "PTX line 4: bad array size");
  EXPECT_EQ(top(".global .b8 a[-1];"), "PTX line 4: bad array size");
  EXPECT_EQ(top(".global .align 9223372036854775807 .b8 a[4];"),
            "PTX line 4: bad alignment: no power of two up to 4096");
  EXPECT_EQ(top(".global .align 0 .b8 a[4];"),
            "PTX line 4: bad alignment: no power of two up to 4096");
  EXPECT_EQ(top(".entry k(.param .b8 a[4294967296]) { ret; }"),
            "PTX line 4: 4294967296 bytes of parameters, at most 32764 are allowed");
  EXPECT_EQ(top(".entry k() .maxntid 0 { ret; }"), "PTX line 4: bad size in a directive");
  EXPECT_EQ(top(".entry k() .reqntid -1, 4 { ret; }"), "PTX line 4: bad size in a directive");
  EXPECT_EQ(top(".global .b128 a = {1};"), "PTX line 4: initial values of b128");
  EXPECT_THAT(MessageOfBody(".reg .b32 %x<99999999>;"), HasSubstr("bad number of registers"));
  EXPECT_THAT(MessageOfBody(".reg .v4 .b32 %x<4000000>;"), HasSubstr("k: too many registers"));
  EXPECT_THAT(MessageOfBody(".local .b8 x[4294967296];"), HasSubstr("variable 'x' is too large"));
  EXPECT_THAT(MessageOfBody(".shared .b8 x[4294967296];"), HasSubstr("variable 'x' is too large"));
}

TEST(BadPtxTest, NestingHasAnEnd) {
  const auto repeated = [](const std::string& text) {
    return absl::StrJoin(std::vector<std::string>(100000, text), "");
  };
  EXPECT_THAT(MessageOfBody(repeated("{")), HasSubstr("blocks nested too deep"));
  EXPECT_THAT(MessageOfBody("ld.u32 %r1, " + repeated("[%d1, ") + ";"),
              HasSubstr("braces nested too deep"));
  EXPECT_THAT(MessageOf(absl::StrCat(kHead, ".entry k() { call k, (); ret; }")),
              HasSubstr("calls nested too deep"));
}

// 2^30 calls, each of which would be inlined.
TEST(BadPtxTest, InliningHasAnEnd) {
  std::string ptx = absl::StrCat(kHead, ".func f0() { .reg .b32 %r<9>; ret; }\n");
  for (int i = 1; i <= 30; ++i) {
    absl::StrAppend(&ptx, ".func f", i, "() { call f", i - 1, ", (); call f", i - 1,
                    ", (); ret; }\n");
  }
  EXPECT_THAT(MessageOf(ptx + ".entry k() { call f30, (); ret; }"),
              HasSubstr("k: too many instructions after inlining"));
}

// Each of 8000 functions calls the next one: who calls itself is found in one pass.
TEST(BadPtxTest, LongCirclesOfCallsAreFoundAtOnce) {
  std::string ptx = kHead;
  for (int i = 0; i < 8000; ++i) {
    absl::StrAppend(&ptx, ".func f", i, "() { call f", (i + 1) % 8000, ", (); ret; }\n");
  }
  EXPECT_TRUE(Module::Parse(ptx + ".entry k() { ret; }").ok());
}

TEST(BadPtxTest, OffsetsBeyondTheAddressSpace) {
  EXPECT_THAT(MessageOfBody("ld.u32 %r1, [%d30+9223372036854775807];"),
              HasSubstr("an offset beyond the address space"));
  EXPECT_THAT(MessageOfBody("ld.u32 %r1, [%d30+4294967296];"),
              HasSubstr("an address offset beyond 32 bits"));
}

TEST(BadPtxTest, MessagesAreOneShortLine) {
  const std::string broken = MessageOfBody("add.u32 %r1,\n\n %r2,\n %d3;");
  EXPECT_THAT(broken, HasSubstr("at PTX line 9: add.u32 %r1, %r2, %d3"));
  std::string values = "{%r1";
  for (int i = 0; i < 10000; ++i) values += ", %r1";
  EXPECT_LT(MessageOfBody("mov.b64 %d1, " + values + "};").size(), 600);
}

TEST(BadPtxTest, ASpecialRegisterIsNoPredicate) {
  EXPECT_THAT(MessageOfBody("selp.f32 %f1, %f2, %f3, %ctaid.y;"), HasSubstr("'%ctaid.y'"));
}

}  // namespace
}  // namespace onepass::sim
