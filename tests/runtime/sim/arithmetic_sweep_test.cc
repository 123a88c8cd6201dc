// Arithmetic over all classes of operands, against integers: halves with every value of the first
// operand, floats with every exponent, in all rounding modes.
#include <bit>
#include <map>
#include <random>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/runtime/sim/exact.h"
#include "tests/runtime/sim/lane_sweep.h"

namespace onepass::sim {
namespace {

using Lanes = std::vector<std::vector<uint64_t>>;

// An instruction's modifiers, looked up once.
struct Parts {
  explicit Parts(const std::string& op) : words(absl::StrSplit(op, '.')) {
    if (Has("rz")) mode = Mode::kZero;
    if (Has("rm")) mode = Mode::kDown;
    if (Has("rp")) mode = Mode::kUp;
  }
  bool Has(const std::string& word) const {
    return std::find(words.begin(), words.end(), word) != words.end();
  }
  std::vector<std::string> words;
  std::string base = words[0];
  Mode mode = Mode::kNearest;
  bool flushes = Has("ftz");
  bool saturates = Has("sat");
  bool relu = Has("relu");
  bool keeps_nan = Has("NaN");
};

struct Arithmetic {
  std::string op;
  Binary format;
  size_t operands;
};

uint64_t Flushed(const Binary& format, uint64_t bits) {
  const bool tiny = (bits & (format.SignBit() - 1)) < format.LeastNormal();
  return tiny ? bits & format.SignBit() : bits;
}

// The magnitude as an integer is ordered; +0 is above -0.
int64_t Place(const Binary& format, uint64_t bits) {
  const auto magnitude = static_cast<int64_t>(bits & (format.SignBit() - 1));
  return (bits & format.SignBit()) != 0 ? -magnitude - 1 : magnitude;
}

uint64_t Extreme(const Binary& format, const Parts& parts, uint64_t a, uint64_t b, uint64_t nan) {
  const bool a_nan = Decode(format, a).nan, b_nan = Decode(format, b).nan;
  if ((a_nan && b_nan) || (parts.keeps_nan && (a_nan || b_nan))) return nan;
  if (a_nan || b_nan) return a_nan ? b : a;
  const bool first = (Place(format, a) < Place(format, b)) == (parts.base == "min");
  return first ? a : b;
}

// What the ISA says that `op` gives.
uint64_t Want(const Arithmetic& row, const Parts& parts, const std::vector<uint64_t>& operands) {
  uint64_t in[3] = {};
  std::copy(operands.begin(), operands.end(), in);
  const Binary& f = row.format;
  const uint64_t nan = f.SignBit() - 1;  // 0x7fff, 0x7fffffff
  for (uint64_t& bits : in) bits = parts.flushes ? Flushed(f, bits) : bits;
  const std::string& base = parts.base;
  if (base == "min" || base == "max") return Extreme(f, parts, in[0], in[1], nan);
  const Mode mode = parts.mode;
  const Exact a = Decode(f, in[0]);
  const Exact b = Decode(f, in[1]);
  Exact exact;
  if (base == "add") exact = Sum(a, b, mode);
  if (base == "sub") exact = Sum(a, Decode(f, in[1] ^ f.SignBit()), mode);
  if (base == "mul") exact = Product(a, b);
  if (base == "fma") {
    const Exact product = Product(a, b);
    exact = product.nan ? product : Sum(product, Decode(f, in[2]), mode);
  }
  if (base == "div") exact = Quotient(a, b);
  if (base == "rcp") exact = Quotient(Decode(f, f.LeastNormal() * f.Bias()), a);
  if (base == "sqrt") exact = Root(a);
  uint64_t bits = Encode(f, exact, mode, nan);
  if (parts.flushes && bits != nan) bits = Flushed(f, bits);
  const bool negative = (bits & f.SignBit()) != 0;
  if (parts.relu && bits != nan && negative) bits = 0;
  if (parts.saturates) {
    const uint64_t one = f.LeastNormal() * f.Bias();
    bits = bits == nan || negative ? 0 : std::min(bits, one);
  }
  return bits;
}

// Zeros, ends and middles of the ranges, infinities, NaN, of both signs.
std::vector<uint64_t> Classes(const Binary& f) {
  const uint64_t one = f.LeastNormal() * f.Bias();
  std::vector<uint64_t> bits = {0,
                                1,
                                f.LeastNormal() / 2 + 1,
                                f.LeastNormal() - 1,
                                f.LeastNormal(),
                                f.LeastNormal() + 1,
                                one,
                                one + 1,
                                one - 1,
                                one + f.LeastNormal() / 2,
                                f.Infinity() - 1,
                                f.Infinity(),
                                f.Infinity() + 1,
                                f.SignBit() - 1};
  for (size_t i = 0, count = bits.size(); i < count; ++i) bits.push_back(bits[i] | f.SignBit());
  return bits;
}

// A third operand at random, of a class, or close to what cancels the product.
uint64_t Addend(const Binary& f, uint64_t a, uint64_t b, const std::vector<uint64_t>& classes,
                std::mt19937_64& random) {
  const uint64_t word = random();
  if (word % 3 == 0) return classes[word / 3 % classes.size()];
  const uint64_t any = random() & (2 * f.SignBit() - 1);
  if (word % 3 == 1) return any;
  const uint64_t product = Encode(f, Product(Decode(f, a), Decode(f, b)), Mode::kZero, 0);
  return (product ^ f.SignBit()) + word / 3 % 3;
}

// Every half as the first operand, each with all classes and some more as the second.
Lanes HalfOperands(const Binary& format, size_t operands) {
  std::mt19937_64 random(1);
  const auto classes = Classes(format);
  std::vector<uint64_t> seconds = classes;
  for (int i = 0; i < 4; ++i) seconds.push_back(random() & 0xffff);
  Lanes lanes(operands);
  for (auto& lane : lanes) lane.reserve(seconds.size() << 16);
  for (const uint64_t b : seconds) {
    for (uint64_t a = 0; a < 65536; ++a) {
      lanes[0].push_back(a);
      lanes[1].push_back(b);
      if (operands > 2) lanes[2].push_back(Addend(format, a, b, classes, random) & 0xffff);
    }
  }
  return lanes;
}

// Classes against classes, then at random with exponents that meet.
Lanes FloatOperands(const Arithmetic& row) {
  const Binary& f = row.format;
  const uint64_t all = 2 * f.SignBit() - 1;
  std::mt19937_64 random(2);
  const auto classes = Classes(f);
  Lanes lanes(row.operands);
  const auto add = [&](uint64_t a, uint64_t b) {
    lanes[0].push_back(a);
    if (row.operands > 1) lanes[1].push_back(b);
    if (row.operands > 2) lanes[2].push_back(Addend(f, a, b, classes, random) & all);
  };
  for (int round = 0; round < 4; ++round) {
    for (const uint64_t a : classes) {
      for (const uint64_t b : classes) add(a, b);
    }
  }
  for (int i = 0; i < 30000; ++i) {
    const uint64_t a = random() & all;
    const uint64_t near = a ^ (random() & (f.LeastNormal() * 8 - 1)) ^ (random() & f.SignBit());
    add(a, random() & all);
    add(a, near);
  }
  return lanes;
}

void Sweep(const Arithmetic& row, const Lanes& lanes) {
  const int bits = row.format.exponent_bits + row.format.mantissa_bits + 1;
  const auto got = RunSweep({row.op, bits, std::vector<int>(row.operands, bits)}, lanes);
  const Parts parts(row.op);
  int wrong = 0;
  std::vector<uint64_t> in(row.operands);
  for (size_t i = 0; i < got.size() && wrong < 3; ++i) {
    for (size_t k = 0; k < in.size(); ++k) in[k] = lanes[k][i];
    const uint64_t want = Want(row, parts, in);
    if (got[i] == want) continue;
    ++wrong;
    ADD_FAILURE() << row.op << std::hex << " of " << in[0] << " " << (in.size() > 1 ? in[1] : 0)
                  << " " << (in.size() > 2 ? in[2] : 0) << " is " << got[i] << ", not " << want;
  }
}

TEST(ArithmeticSweepTest, EveryHalfAgainstAllClasses) {
  const struct {
    const char* ops;
    const char* type;
    Binary format;
  } kForms[] = {
      {"add sub mul fma.rn add.sat mul.sat fma.rn.sat add.ftz sub.ftz mul.ftz fma.rn.ftz "
       "fma.rn.relu fma.rn.ftz.relu min max min.NaN max.NaN",
       "f16", kBinary16},
      {"add.rn sub.rn mul.rn fma.rn fma.rn.relu min max min.NaN max.NaN", "bf16", kBrain16},
  };
  for (const auto& form : kForms) {
    const Lanes two = HalfOperands(form.format, 2);
    const Lanes three = HalfOperands(form.format, 3);
    for (const absl::string_view op : absl::StrSplit(form.ops, ' ')) {
      const Arithmetic row{absl::StrCat(op, ".", form.type), form.format,
                           absl::StartsWith(op, "fma") ? 3u : 2u};
      Sweep(row, row.operands == 2 ? two : three);
    }
  }
}

// Values whose products are neither tiny nor huge, whole warps of them: what is computed for a row
// at once, and not lane by lane.
TEST(ArithmeticSweepTest, HalvesOfTheMiddleOfTheRange) {
  for (const Binary& format : {kBinary16, kBrain16}) {
    const uint64_t span = (format.exponent_bits == 5 ? 10 : 60) << format.mantissa_bits;
    const uint64_t least = format.LeastNormal() * format.Bias() - span / 2;
    std::mt19937_64 random(3);
    const auto any = [&] { return least + random() % span + (random() & format.SignBit()); };
    Lanes lanes(3);
    for (int i = 0; i < 1 << 18; ++i) {
      lanes[0].push_back(any());
      lanes[1].push_back(any());
      const uint64_t c = Addend(format, lanes[0][i], lanes[1][i], {0, format.SignBit()}, random);
      const uint64_t exponent = (c & (format.SignBit() - 1)) >> format.mantissa_bits;
      const bool huge = exponent > static_cast<uint64_t>(format.Bias()) + format.Bias() * 3 / 4;
      lanes[2].push_back(huge ? any() : c & (2 * format.SignBit() - 1));
    }
    const char* const type = format.exponent_bits == 5 ? "f16" : "bf16";
    for (const char* base : {"add.rn.", "sub.rn.", "mul.rn.", "fma.rn."}) {
      const Arithmetic row{absl::StrCat(base, type), format, base[0] == 'f' ? 3u : 2u};
      Sweep(row, Lanes(lanes.begin(), lanes.begin() + static_cast<int>(row.operands)));
    }
  }
}

// Halves of a pair do what single halves do.
TEST(ArithmeticSweepTest, PairsAreTwoHalves) {
  for (const char* type : {"f16", "bf16"}) {
    for (const char* op : {"add.rn", "sub.rn", "mul.rn", "fma.rn", "fma.rn.relu", "min", "max"}) {
      const bool f16 = type[0] == 'f';
      const Arithmetic row{absl::StrCat(op, ".", type), f16 ? kBinary16 : kBrain16,
                           absl::StartsWith(op, "fma") ? 3u : 2u};
      const Lanes lanes = HalfOperands(row.format, row.operands);
      const size_t count = lanes[0].size() / 8;
      Lanes low(lanes.size()), pairs(lanes.size());
      for (size_t k = 0; k < lanes.size(); ++k) {
        for (size_t i = 0; i < count; ++i) {
          low[k].push_back(lanes[k][8 * i + 3]);
          pairs[k].push_back(lanes[k][8 * i + 3] | lanes[k][lanes[k].size() - 1 - i] << 16);
        }
      }
      const std::vector<int> halves(lanes.size(), 16), words(lanes.size(), 32);
      const auto one = RunSweep({row.op, 16, halves}, low);
      const auto both = RunSweep({row.op + "x2", 32, words}, pairs);
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(both[i] & 0xffff, one[i]) << row.op << " " << i;
        std::vector<uint64_t> in;
        for (const auto& pair : pairs) in.push_back(pair[i] >> 16);
        ASSERT_EQ(both[i] >> 16, Want(row, Parts(row.op), in)) << row.op << " " << i;
      }
    }
  }
}

TEST(ArithmeticSweepTest, FloatsInEveryRoundingMode) {
  const std::map<std::string, size_t> operands = {{"add", 2}, {"sub", 2}, {"mul", 2}, {"fma", 3},
                                                  {"div", 2}, {"rcp", 1}, {"sqrt", 1}};
  for (const auto& [base, count] : operands) {
    for (const char* mode : {".rn", ".rz", ".rm", ".rp"}) {
      for (const char* rest : {".f32", ".ftz.f32", ".sat.f32", ".ftz.sat.f32"}) {
        const bool saturates = absl::StrContains(rest, "sat");
        if (saturates && (base == "div" || base == "rcp" || base == "sqrt")) continue;
        const Arithmetic row{absl::StrCat(base, mode, rest), kBinary32, count};
        Sweep(row, FloatOperands(row));
      }
    }
  }
  for (const char* op : {"min", "max", "min.NaN", "max.NaN", "min.ftz", "max.ftz.NaN"}) {
    const Arithmetic row{absl::StrCat(op, ".f32"), kBinary32, 2};
    Sweep(row, FloatOperands(row));
  }
}

// NaN of f64 carry payloads; everything else is exact.
TEST(ArithmeticSweepTest, DoublesInEveryRoundingMode) {
  const std::map<std::string, size_t> operands = {{"add", 2}, {"sub", 2}, {"mul", 2}, {"fma", 3},
                                                  {"div", 2}, {"rcp", 1}, {"sqrt", 1}};
  for (const auto& [base, count] : operands) {
    for (const char* mode : {".rn", ".rz", ".rm", ".rp"}) {
      const Arithmetic row{absl::StrCat(base, mode, ".f64"), kBinary64, count};
      const Lanes lanes = FloatOperands(row);
      const auto got = RunSweep({row.op, 64, std::vector<int>(count, 64)}, lanes);
      const Parts parts(row.op);
      for (size_t i = 0; i < got.size(); ++i) {
        std::vector<uint64_t> in;
        for (const auto& lane : lanes) in.push_back(lane[i]);
        const uint64_t want = Want(row, parts, in);
        const bool both_nan = Decode(kBinary64, got[i]).nan && Decode(kBinary64, want).nan;
        ASSERT_TRUE(got[i] == want || both_nan)
            << row.op << std::hex << " of " << in[0] << " " << in.back() << " is " << got[i]
            << ", not " << want;
      }
    }
  }
}

}  // namespace
}  // namespace onepass::sim
