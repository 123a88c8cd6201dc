// Approximate operations over dense sweeps, as exact as they are and with every error that their
// documentation allows: special values and bounds of tests/cases/sim/approx.tsv.
#include <bit>
#include <cfloat>
#include <cmath>
#include <map>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/sim/half.h"
#include "tests/runtime/sim/lane_sweep.h"

namespace onepass::sim {
namespace {

constexpr double kInf = HUGE_VAL;
constexpr double kPi = 3.14159265358979323846;

struct ApproxRow {
  std::string op;
  bool special;
  std::string input;
  std::string result;
};

std::vector<ApproxRow> Rows() {
  std::vector<ApproxRow> rows;
  std::ifstream in(ONEPASS_SOURCE_DIR "/tests/cases/sim/approx.tsv");
  EXPECT_TRUE(in.good());
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> cells = absl::StrSplit(line, '\t');
    if (line[0] == '#' || cells.size() != 4) continue;
    rows.push_back({cells[0], cells[1] == "special", cells[2], cells[3]});
  }
  return rows;
}

enum class Kind { kF32, kF16, kBf16 };
Kind KindOf(const std::string& op) {
  if (op.ends_with("bf16")) return Kind::kBf16;
  return op.ends_with("f16") ? Kind::kF16 : Kind::kF32;
}

double ValueOfBits(Kind kind, uint64_t bits) {
  if (kind == Kind::kF16) return ToFloat(F16{static_cast<uint16_t>(bits)});
  if (kind == Kind::kBf16) return ToFloat(Bf16{static_cast<uint16_t>(bits)});
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}

long double Exact(const std::string& op, long double x, long double y) {
  if (op.starts_with("ex2")) return std::exp2(x);
  if (op.starts_with("lg2")) return std::log2(x);
  if (op.starts_with("rcp")) return 1 / x;
  if (op.starts_with("rsqrt")) return 1 / std::sqrt(x);
  if (op.starts_with("sqrt")) return std::sqrt(x);
  if (op.starts_with("sin")) return std::sin(x);
  if (op.starts_with("cos")) return std::cos(x);
  if (op.starts_with("tanh")) return std::tanh(x);
  EXPECT_TRUE(op.starts_with("div")) << op;
  return x / y;
}

// Whether the row speaks of x (of y, the divisor).
bool InRange(const ApproxRow& row, double x, double y) {
  const std::string& range = row.input;
  if (std::isnan(x) || std::isinf(x) || y == 0 || !std::isfinite(y)) return false;
  if (range == "(0.5,2)") return x > 0.5 && x < 2;
  if (range == "positive finite outside (0.5,2)") return x > 0 && !(x > 0.5 && x < 2);
  if (range == "positive finite") return x > 0;
  if (range == "[-2pi,2pi]") return std::fabs(x) <= 2 * kPi;
  if (range == "[-100pi,100pi]") return std::fabs(x) <= 100 * kPi;
  if (range.starts_with("|b| in")) return std::fabs(y) >= 0x1p-126 && std::fabs(y) <= 0x1p126;
  EXPECT_EQ(range, "full range");
  return true;
}

// The error that the row allows at the exact result.
long double Allowed(const ApproxRow& row, long double exact) {
  const std::vector<std::string> words = absl::StrSplit(row.result, ' ');
  if (words.size() > 1 && words[1] == "ulp") {
    const int exponent = exact == 0 ? -126 : std::max(std::ilogb(exact), -126);
    return std::ldexp(std::stod(words[0]), exponent - 23);
  }
  EXPECT_TRUE(words[1].starts_with("2^")) << row.result;
  const double bound = std::exp2(std::stod(words[1].substr(2)));
  return words[0] == "rel" ? bound * std::fabs(exact) : bound;
}

// Of f32: every exponent, mantissas at random and at both ends; of halves: every value.
std::vector<uint64_t> Operands(Kind kind) {
  std::vector<uint64_t> bits;
  if (kind != Kind::kF32) {
    for (uint64_t i = 0; i < 65536; ++i) bits.push_back(i);
    return bits;
  }
  std::mt19937 random(11);
  for (uint32_t high = 0; high < 512; ++high) {
    for (int i = 0; i < 128; ++i) bits.push_back(high << 23 | (random() & 0x7fffff));
    for (const uint32_t low : {0u, 1u, 2u, 0x3fffffu, 0x400000u, 0x7ffffeu, 0x7fffffu}) {
      bits.push_back(high << 23 | low);
    }
  }
  // Where the functions are used.
  std::uniform_real_distribution<float> near(-8, 8);
  for (int i = 0; i < 20000; ++i) bits.push_back(std::bit_cast<uint32_t>(near(random)));
  return bits;
}

// The largest error over what is allowed, over all operands that the row speaks of.
double WorstOfRow(const ApproxRow& row, uint64_t approx_seed) {
  const Kind kind = KindOf(row.op);
  const bool two = row.op.starts_with("div");
  const int width = kind == Kind::kF32 ? 32 : 16;
  std::vector<std::vector<uint64_t>> sources = {Operands(kind)};
  if (two) {
    sources.push_back(sources[0]);
    std::shuffle(sources[1].begin(), sources[1].end(), std::mt19937(5));
  }
  const auto results = RunSweep(
      {row.op, width, std::vector<int>(sources.size(), width), {.approx_seed = approx_seed}},
      sources);
  double worst = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    const double x = ValueOfBits(kind, sources[0][i]);
    const double y = two ? ValueOfBits(kind, sources[1][i]) : 1;
    if (!InRange(row, x, y)) continue;
    const bool flushed = kind == Kind::kBf16 && std::fabs(x) < 0x1p-126;  // always .ftz
    long double exact = Exact(row.op, flushed ? 0 : x, y);
    long double got = ValueOfBits(kind, results[i]);
    const long double largest = kind == Kind::kF16 ? 65504.0L : static_cast<long double>(FLT_MAX);
    if (row.result.find("correctly rounded") != std::string::npos) {
      exact = static_cast<float>(exact);
    }
    // Overflow to infinity is one step from the largest number.
    if (std::isinf(got) && std::fabs(exact) >= largest * (1 - 0x1p-8L)) continue;
    long double allowed = Allowed(row, exact);
    // A subnormal result has the error of its own last place.
    if (kind == Kind::kF16 && std::fabs(exact) < 0x1p-14) allowed += 0x1p-25L;
    if (kind == Kind::kBf16 && std::fabs(exact) < 0x1p-126) continue;  // flushed
    if (kind == Kind::kF32 && std::fabs(exact) < 0x1p-126) allowed += 0x1p-150L;
    const double error = static_cast<double>(std::fabs(got - exact) / allowed);
    EXPECT_LE(error, 1) << row.op << " of " << x << ", " << y << " is " << double(got) << ", not "
                        << double(exact) << " (seed " << approx_seed << ")";
    worst = std::max(worst, error);
    if (!(error <= 1)) return worst;
  }
  return worst;
}

TEST(ApproxSweepTest, ErrorsStayWithinTheDocumentedBounds) {
  int rows = 0;
  for (ApproxRow& row : Rows()) {
    if (row.special) continue;
    ++rows;
    row.result = row.result.substr(0, row.result.find(';'));
    row.result = row.result.substr(0, row.result.find(" ("));
    double worst[4];
    constexpr uint64_t kSeeds[] = {0, 1, 2, 77};
    for (int i = 0; i < 4; ++i) worst[i] = WorstOfRow(row, kSeeds[i]);
    std::printf("%-22s %-32s %-40s %5.2f %5.2f %5.2f %5.2f\n", row.op.c_str(), row.input.c_str(),
                row.result.c_str(), worst[0], worst[1], worst[2], worst[3]);
    // The other seeds go as far as they may: a test that passes under them needs no chip's bits.
    EXPECT_GE(worst[1], 0.9) << row.op;
    EXPECT_GE(worst[2], 0.9) << row.op;
    EXPECT_GE(worst[3], 0.9) << row.op;
  }
  EXPECT_EQ(rows, 17);
}

std::vector<uint32_t> SpecialOperands(const std::string& input) {
  const auto bits = [](double value) { return std::bit_cast<uint32_t>(float(value)); };
  if (input == "-Inf") return {bits(-kInf)};
  if (input == "+Inf") return {bits(kInf)};
  if (input == "+-Inf") return {bits(-kInf), bits(kInf)};
  if (input == "-0") return {bits(-0.0)};
  if (input == "+0") return {bits(0.0)};
  if (input == "+-0") return {bits(-0.0), bits(0.0)};
  if (input == "-normal") return {bits(-1), bits(-FLT_MIN), bits(-FLT_MAX)};
  EXPECT_EQ(input, "NaN");
  return {0x7fffffffu, 0x7fc00000u, 0xffc12345u, 0x7f800001u};
}

uint32_t SpecialResult(const std::string& result) {
  const std::map<std::string, float> values = {{"+0", 0.0f},  {"-0", -0.0f},  {"+1", 1.0f},
                                               {"-1", -1.0f}, {"+Inf", kInf}, {"-Inf", -kInf}};
  if (result == "NaN") return 0x7fffffffu;
  EXPECT_TRUE(values.contains(result)) << result;
  return std::bit_cast<uint32_t>(values.at(result));
}

TEST(ApproxSweepTest, SpecialValuesAreThoseOfTheIsaUnderEverySeed) {
  int rows = 0;
  for (const ApproxRow& row : Rows()) {
    if (!row.special) continue;
    ++rows;
    std::vector<uint64_t> operands;
    for (const uint32_t bits : SpecialOperands(row.input)) operands.push_back(bits);
    for (const uint64_t seed : {0, 1, 2, 9}) {
      const auto results = RunSweep({row.op, 32, {32}, {.approx_seed = seed}}, {operands});
      for (size_t i = 0; i < results.size(); ++i) {
        EXPECT_EQ(results[i], SpecialResult(row.result))
            << row.op << " of " << std::hex << operands[i] << " seed " << seed;
      }
    }
  }
  EXPECT_EQ(rows, 34);
}

TEST(ApproxSweepTest, ErrorsAreAFunctionOfOperandsAndSeed) {
  const std::vector<uint64_t> operands = Operands(Kind::kF32);
  const auto run = [&](uint64_t approx_seed, uint64_t seed) {
    return RunSweep({"ex2.approx.f32", 32, {32}, {.seed = seed, .approx_seed = approx_seed}},
                    {operands});
  };
  const auto exact = run(0, 0);
  const auto once = run(5, 0);
  EXPECT_EQ(once, run(5, 3));
  EXPECT_NE(once, run(6, 0));
  size_t differ = 0;
  for (size_t i = 0; i < exact.size(); ++i) differ += exact[i] != once[i];
  EXPECT_GT(differ, exact.size() / 8);
  // Halves of a pair and lanes of a guarded operation err alike.
  const std::vector<uint64_t> pair = {0x3c003800u, 0x38003c00u};
  const auto both = RunSweep({"tanh.approx.f16x2", 32, {32}, {.approx_seed = 5}}, {pair});
  EXPECT_EQ(both[0] >> 16, both[1] & 0xffff);
  EXPECT_EQ(both[1] >> 16, both[0] & 0xffff);
}

}  // namespace
}  // namespace onepass::sim
