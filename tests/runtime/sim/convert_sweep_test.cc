// cvt between all types, against integers: every half, and floats and doubles at every boundary.
#include <bit>
#include <limits>
#include <map>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/runtime/sim/exact.h"
#include "tests/runtime/sim/lane_sweep.h"

namespace onepass::sim {
namespace {

using Wide = __int128;

struct Number {
  const char* name;
  Binary format;
  int bits;
};
constexpr Number kF16 = {"f16", kBinary16, 16};
constexpr Number kBf16 = {"bf16", kBrain16, 16};
constexpr Number kF32 = {"f32", kBinary32, 32};
constexpr Number kF64 = {"f64", kBinary64, 64};

struct Whole {
  const char* name;
  int bits;
  bool is_signed;
  Wide Least() const { return is_signed ? -(Wide{1} << (bits - 1)) : 0; }
  Wide Most() const { return (Wide{1} << (bits - is_signed)) - 1; }
};
constexpr Whole kWholes[] = {{"s8", 8, true},    {"u8", 8, false},  {"s16", 16, true},
                             {"u16", 16, false}, {"s32", 32, true}, {"u32", 32, false},
                             {"s64", 64, true},  {"u64", 64, false}};

constexpr struct {
  const char* name;
  Mode mode;
} kModes[] = {{"rn", Mode::kNearest}, {"rz", Mode::kZero}, {"rm", Mode::kDown}, {"rp", Mode::kUp}};

uint64_t NanOf(const Binary& format) { return format.SignBit() - 1; }

// Every value of `narrow` and the middles between them, and what lies beside each, in `wide`.
std::vector<uint64_t> Boundaries(const Binary& wide, const Binary& narrow) {
  std::vector<uint64_t> bits;
  const int below = wide.mantissa_bits - narrow.mantissa_bits;
  for (uint64_t n = 0; n<2 * narrow.SignBit(); n += narrow.mantissa_bits> 12 ? 8191 : 1) {
    const uint64_t at = Encode(wide, Decode(narrow, n), Mode::kZero, wide.Infinity() + 1);
    const uint64_t half = below > 0 ? uint64_t{1} << (below - 1) : 0;
    for (const uint64_t place : {at, at + half}) {
      for (const int64_t step : {-1, 0, 1})
        bits.push_back((place + step) & (2 * wide.SignBit() - 1));
    }
  }
  std::mt19937_64 random(3);
  for (int i = 0; i < 5000; ++i) bits.push_back(random() & (2 * wide.SignBit() - 1));
  return bits;
}

std::vector<uint64_t> All16() {
  std::vector<uint64_t> bits(65536);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = i;
  return bits;
}

template <class Fn>
void Sweep(const std::string& op, int to_bits, int from_bits, const std::vector<uint64_t>& in,
           Fn want) {
  const auto got = RunSweep({op, to_bits, {from_bits}}, {in});
  int wrong = 0;
  for (size_t i = 0; i < in.size() && wrong < 3; ++i) {
    const uint64_t expected = want(in[i]);
    if (got[i] == expected) continue;
    ++wrong;
    ADD_FAILURE() << op << std::hex << " of " << in[i] << " is " << got[i] << ", not " << expected;
  }
}

TEST(ConvertSweepTest, ToNarrowerFormatsInEveryMode) {
  const std::pair<Number, Number> kPairs[] = {
      {kF32, kF16}, {kF32, kBf16}, {kF64, kF32}, {kF64, kF16}, {kF64, kBf16}};
  for (const auto& [from, to] : kPairs) {
    const auto in = Boundaries(from.format, to.format);
    for (const auto& mode : kModes) {
      const auto rounded = [&, from = from, to = to](uint64_t bits) {
        return Encode(to.format, Decode(from.format, bits), mode.mode, NanOf(to.format));
      };
      const std::string op = absl::StrCat("cvt.", mode.name, ".", to.name, ".", from.name);
      Sweep(op, to.bits, from.bits, in, rounded);
      if (from.bits != 32 || (mode.mode != Mode::kNearest && mode.mode != Mode::kZero)) continue;
      Sweep(absl::StrCat("cvt.", mode.name, ".relu.", to.name, ".", from.name), to.bits, from.bits,
            in, [&, to = to](uint64_t bits) {
              const uint64_t value = rounded(bits);
              return value != NanOf(to.format) && (value & to.format.SignBit()) != 0 ? 0 : value;
            });
    }
  }
}

TEST(ConvertSweepTest, ToWiderFormatsExactly) {
  const std::pair<Number, Number> kPairs[] = {{kF16, kF32}, {kBf16, kF32}, {kF16, kF64}};
  for (const auto& [from, to] : kPairs) {
    Sweep(absl::StrCat("cvt.", to.name, ".", from.name), to.bits, from.bits, All16(),
          [from = from, to = to](uint64_t bits) {
            const uint64_t nan = to.bits == 64 ? 0x7ff8000000000000u : NanOf(to.format);
            const Exact exact = Decode(from.format, bits);
            // Payloads of f64 pass.
            if (exact.nan && to.bits == 64) {
              return (bits & from.format.SignBit()) << 48 | nan |
                     (bits & (from.format.LeastNormal() - 1)) << 42;
            }
            return Encode(to.format, exact, Mode::kZero, nan);
          });
  }
}

TEST(ConvertSweepTest, Tf32) {
  const Binary tf32 = {8, 10};
  const auto in = Boundaries(kBinary32, tf32);
  for (const auto& [name, mode] :
       std::map<std::string, Mode>{{"rna", Mode::kNearestAway}, {"rn", Mode::kNearest}}) {
    Sweep(absl::StrCat("cvt.", name, ".tf32.f32"), 32, 32, in, [mode = mode](uint64_t bits) {
      const uint64_t nan = 0x7fffffff;
      const uint64_t value = Encode({8, 10}, Decode(kBinary32, bits), mode, nan);
      return value == nan ? nan : value << 13;
    });
  }
}

// The value as a whole number, rounded, beyond 2^80 clamped.
Wide Rounded(const Exact& x, Mode mode) {
  if (x.infinite || x.e + BitLength(x.m) > 80) {
    return x.negative ? -(Wide{1} << 80) : Wide{1} << 80;
  }
  // As a format whose last place is 1.
  const int shift = -x.e;
  auto m = static_cast<Wide>(shift <= 0 ? x.m << -shift : shift < 128 ? x.m >> shift : 0);
  const auto rest = shift <= 0    ? 0
                    : shift < 128 ? x.m - (static_cast<unsigned __int128>(m) << shift)
                                  : x.m;
  const auto half = shift > 0 && shift < 128 ? static_cast<unsigned __int128>(1) << (shift - 1)
                                             : ~static_cast<unsigned __int128>(0);
  bool up = mode == Mode::kNearest && (rest > half || (rest == half && (m & 1) != 0));
  up |= mode == Mode::kDown && x.negative && rest != 0;
  up |= mode == Mode::kUp && !x.negative && rest != 0;
  m += up ? 1 : 0;
  return x.negative ? -m : m;
}

// Floats about all powers of two, their halves and quarters, and at random.
std::vector<uint64_t> AboutWholes(const Number& from) {
  if (from.bits == 16) return All16();
  const Binary& f = from.format;
  std::vector<uint64_t> bits;
  std::mt19937_64 random(4);
  for (int e = -3; e <= 66; ++e) {
    const uint64_t power = static_cast<uint64_t>(f.Bias() + e) << f.mantissa_bits;
    for (const uint64_t sign : {uint64_t{0}, f.SignBit()}) {
      for (int step = -2; step <= 2; ++step) bits.push_back((power + step) | sign);
      for (const int part : {1, 2, 3}) bits.push_back((power | f.LeastNormal() / 4 * part) | sign);
      for (int i = 0; i < 30; ++i)
        bits.push_back((power | (random() & (f.LeastNormal() - 1))) | sign);
    }
  }
  for (const uint64_t sign : {uint64_t{0}, f.SignBit()}) {
    for (const uint64_t end : {uint64_t{0}, uint64_t{1}, f.LeastNormal() - 1, f.LeastNormal(),
                               f.Infinity() - 1, f.Infinity(), f.Infinity() + 1, f.SignBit() - 1}) {
      bits.push_back(end | sign);
    }
  }
  return bits;
}

TEST(ConvertSweepTest, ToIntegersClampedInEveryMode) {
  for (const Number& from : {kF16, kF32, kF64, kBf16}) {
    const auto in = AboutWholes(from);
    for (const Whole& to : kWholes) {
      for (const auto& mode : kModes) {
        const int register_bits = std::max(to.bits, 16);
        Sweep(absl::StrCat("cvt.", mode.name, "i.", to.name, ".", from.name), register_bits,
              from.bits, in, [&](uint64_t bits) {
                const Exact exact = Decode(from.format, bits);
                Wide value = std::clamp(Rounded(exact, mode.mode), to.Least(), to.Most());
                if (exact.nan) {
                  const bool zero = from.bits != 64 && to.bits != 64;
                  value = zero ? 0 : Wide{1} << (to.bits - 1);
                  if (to.is_signed && !zero) value = to.Least();
                }
                const uint64_t kept =
                    register_bits == 64 ? ~uint64_t{0} : (uint64_t{1} << register_bits) - 1;
                return static_cast<uint64_t>(value) & kept;
              });
      }
    }
  }
}

TEST(ConvertSweepTest, FromIntegersInEveryMode) {
  for (const Whole& from : kWholes) {
    std::vector<uint64_t> in;
    std::mt19937_64 random(6);
    for (int bit = 0; bit < from.bits; ++bit) {
      for (int step = -2; step <= 2; ++step) {
        in.push_back((uint64_t{1} << bit) + step);
        in.push_back(-(uint64_t{1} << bit) + step);
      }
      for (int i = 0; i < 60; ++i) in.push_back(random() >> (64 - bit - 1));
    }
    const int register_bits = std::max(from.bits, 16);
    for (uint64_t& bits : in) {
      if (register_bits < 64) bits &= (uint64_t{1} << register_bits) - 1;
    }
    for (const Number& to : {kF16, kF32, kF64, kBf16}) {
      for (const auto& mode : kModes) {
        Sweep(absl::StrCat("cvt.", mode.name, ".", to.name, ".", from.name), to.bits, register_bits,
              in, [&](uint64_t bits) {
                Wide value =
                    bits & (from.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << from.bits) - 1);
                if (from.is_signed && value > from.Most()) value -= Wide{1} << from.bits;
                Exact exact{.negative = value < 0};
                exact.m = static_cast<unsigned __int128>(value < 0 ? -value : value);
                return Encode(to.format, exact, mode.mode, 0);
              });
      }
    }
  }
}

TEST(ConvertSweepTest, FloatsBecomeWholeFloats) {
  for (const Number& type : {kF16, kF32, kF64}) {
    const auto in = AboutWholes(type);
    for (const auto& mode : kModes) {
      Sweep(absl::StrCat("cvt.", mode.name, "i.", type.name, ".", type.name), type.bits, type.bits,
            in, [&](uint64_t bits) {
              const Exact exact = Decode(type.format, bits);
              if (exact.nan)
                return type.bits == 64 ? bits | type.format.LeastNormal() / 2 : NanOf(type.format);
              if (exact.infinite || exact.e >= 0) return bits;
              Exact whole{.negative = exact.negative};
              const Wide value = Rounded(exact, mode.mode);
              whole.m = static_cast<unsigned __int128>(value < 0 ? -value : value);
              return Encode(type.format, whole, Mode::kZero, 0);
            });
    }
  }
}

TEST(ConvertSweepTest, IntegersAmongThemselves) {
  for (const Whole& from : kWholes) {
    for (const Whole& to : kWholes) {
      std::vector<uint64_t> in;
      const int register_bits = std::max(from.bits, 16);
      std::mt19937_64 random(8);
      for (int i = 0; i < 2000; ++i) {
        uint64_t bits = random() >> (random() % 64);
        if (i % 3 == 0) bits = ~bits;
        in.push_back(register_bits == 64 ? bits : bits & ((uint64_t{1} << register_bits) - 1));
      }
      const auto value_of = [&](uint64_t bits) {
        Wide value = bits & (from.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << from.bits) - 1);
        return from.is_signed && value > from.Most() ? value - (Wide{1} << from.bits) : value;
      };
      const int result_bits = std::max(to.bits, 16);
      const uint64_t kept = result_bits == 64 ? ~uint64_t{0} : (uint64_t{1} << result_bits) - 1;
      Sweep(absl::StrCat("cvt.sat.", to.name, ".", from.name), result_bits, register_bits, in,
            [&](uint64_t bits) {
              return static_cast<uint64_t>(std::clamp(value_of(bits), to.Least(), to.Most())) &
                     kept;
            });
      Sweep(absl::StrCat("cvt.", to.name, ".", from.name), result_bits, register_bits, in,
            [&](uint64_t bits) {
              Wide value = value_of(bits) & ((Wide{1} << to.bits) - 1);
              if (to.is_signed && value > to.Most()) value -= Wide{1} << to.bits;
              return static_cast<uint64_t>(value) & kept;
            });
    }
  }
}

// e4m3 and e5m2, two at a time. e4m3 has no infinity; overflow and infinities saturate.
TEST(ConvertSweepTest, EightBitFloats) {
  for (const bool e4m3 : {true, false}) {
    const Binary format = e4m3 ? Binary{4, 3} : Binary{5, 2};
    const uint64_t most = e4m3 ? 0x7e : 0x7b;
    const auto narrow = [&](uint64_t bits) -> uint64_t {
      Exact exact = Decode(kBinary32, bits);
      if (exact.nan) return 0x7f;
      // As if the exponents went on: e4m3's largest holds numbers.
      const uint64_t value =
          exact.infinite ? 0xff : Encode({8, format.mantissa_bits}, exact, Mode::kNearest, 0);
      const int rebias = 127 - format.Bias();
      const int64_t magnitude =
          static_cast<int64_t>(value & ((uint64_t{1} << (8 + format.mantissa_bits)) - 1)) -
          (int64_t{rebias} << format.mantissa_bits);
      const uint64_t sign = exact.negative ? 0x80 : 0;
      if (exact.infinite || magnitude > static_cast<int64_t>(most)) return sign | most;
      if (magnitude >= static_cast<int64_t>(format.LeastNormal())) return sign | magnitude;
      return Encode(format, exact, Mode::kNearest, 0);  // subnormal
    };
    const auto in = Boundaries(kBinary32, format);
    std::vector<uint64_t> other(in.rbegin(), in.rend());
    const char* name = e4m3 ? "e4m3x2" : "e5m2x2";
    const auto got =
        RunSweep({absl::StrCat("cvt.rn.satfinite.", name, ".f32"), 16, {32, 32}}, {in, other});
    for (size_t i = 0; i < in.size(); ++i) {
      ASSERT_EQ(got[i], narrow(in[i]) << 8 | narrow(other[i])) << name << std::hex << " " << in[i];
    }
    std::vector<uint64_t> all = All16();
    const auto widened = RunSweep({absl::StrCat("cvt.rn.f16x2.", name), 32, {16}}, {all});
    for (size_t i = 0; i < all.size(); ++i) {
      for (const int half : {0, 1}) {
        const uint64_t bits = all[i] >> (8 * half) & 0xff;
        const bool nan = e4m3 ? (bits & 0x7f) == 0x7f : (bits & 0x7f) > 0x7c;
        Exact exact = Decode(format, bits);
        if (e4m3) exact.infinite = exact.nan = false;
        ASSERT_EQ(widened[i] >> (16 * half) & 0xffff,
                  nan ? 0x7fff : Encode(kBinary16, exact, Mode::kZero, 0))
            << name << std::hex << " " << bits;
      }
    }
  }
}

}  // namespace
}  // namespace onepass::sim
