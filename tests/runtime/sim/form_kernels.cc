#include "tests/runtime/sim/form_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "tests/runtime/sim/compiled.h"

namespace onepass::sim {
namespace {

struct ValueRow {
  int arch;
  const char* form;
  uint64_t in[3];
  uint64_t want;
};

#define FIRST_ROW
#define ROW(arch, form, types, a, b, c, want) {arch, form, {a, b, c}, want},
const ValueRow kValues[] = {
#include "tests/runtime/sim/kernels/values.inc"
};
#undef ROW
#undef FIRST_ROW

int CapabilityOf(const std::string& arch) { return std::stoi(arch.substr(arch.find('_') + 1)); }

// Runs the kernels of one arch and gathers the forms.
class FormKernels {
 public:
  FormKernels(std::string arch, GpuOptions options)
      : arch_(std::move(arch)), capability_(CapabilityOf(arch_)), options_(options) {
    options_.record_forms = true;
  }

  std::set<std::string> Run() {
    if (arch_ == "compute_100a") {
      ReduxFloat();
      return forms_;
    }
    Values();
    Copies();
    Atomics();
    Warps();
    Barriers();
    Spaces();
    Calls();
    Traps();
    Registers();
    CopyAsync();
    PipelinedSum();
    if (capability_ >= 90) {
      Bulk();
      ClusterForms();
    }
    return forms_;
  }

 private:
  Program Open(const std::string& file, const std::string& before = "") {
    return Program(file, arch_, options_, Machine{.sms = 4}, before);
  }
  void Expect(Program& program, const LaunchShape& shape, const Packed& parameters) {
    const absl::Status status = program.Launch(shape, parameters);
    EXPECT_TRUE(status.ok()) << arch_ << " " << shape.entry << ": " << status;
    Gather(program);
  }
  void Gather(Program& program) {
    for (std::string& form : program.gpu().TakeForms()) forms_.insert(std::move(form));
  }

  void Values();
  void Copies();
  void Atomics();
  void Warps();
  void ReduxFloat();
  void Barriers();
  void Spaces();
  void Calls();
  void Traps();
  void Registers();
  void CopyAsync();
  void PipelinedSum();
  void Bulk();
  void ClusterForms();

  std::string arch_;
  int capability_;
  GpuOptions options_;
  std::set<std::string> forms_;
};

void FormKernels::Values() {
  Program program = Open("values");
  std::vector<uint64_t> in;
  for (const ValueRow& row : kValues) in.insert(in.end(), row.in, row.in + 3);
  const uint64_t out = program.Out<uint64_t>(std::size(kValues));
  Expect(program, {.entry = "values", .block = {32, 1, 1}}, Packed().Add(program.In(in)).Add(out));
  const auto got = program.Take<uint64_t>(out, std::size(kValues));
  for (size_t i = 0; i < got.size(); ++i) {
    const ValueRow& row = kValues[i];
    if (row.arch > capability_) continue;
    EXPECT_EQ(got[i], row.want) << arch_ << std::hex << " " << row.form << " of 0x" << row.in[0]
                                << ", 0x" << row.in[1] << ", 0x" << row.in[2];
  }
}

void FormKernels::Copies() {
  Program program = Open("copies");
  const int ways = capability_ >= 100 ? 32 : 30;
  std::vector<uint32_t> in(ways * 16);
  for (size_t i = 0; i < in.size(); ++i) in[i] = 0x3f000000u + 77 * static_cast<uint32_t>(i);
  const uint64_t out = program.Out<uint32_t>(in.size() + 32);
  Expect(program, {.entry = "copies", .block = {4, 1, 1}},
         Packed().Add(program.In(in)).Add(out).Add(ways));
  EXPECT_EQ(program.Take<uint32_t>(out, in.size()), in) << arch_;
}

// What the words of kernel `atomics` hold afterwards, for 128 threads.
std::vector<int64_t> AtomicSums() {
  std::vector<int64_t> want(23);
  want[0] = want[1] = 127 * 64;
  want[2] = std::bit_cast<uint32_t>(64.0f);
  want[3] = std::bit_cast<int64_t>(32.0);
  want[4] = 3 * 128;
  want[5] = int64_t{128} << 33;
  want[6] = 0;
  want[7] = 0x7fffffff;
  want[8] = 0;  // 0 ^ 1 ^ ... ^ 127
  want[9] = 127000;
  want[10] = 0xffffff81;
  want[11] = 128 % 100;
  want[12] = 100 - 128 % 100;
  want[13] = want[14] = 128;
  want[16] = 0x5800;      // 128
  want[17] = 0x58005c00;  // 128 and 256
  want[18] = want[19] = want[20] = want[21] = want[22] = 128;
  return want;
}

void FormKernels::Atomics() {
  Program program = Open("atomics");
  std::vector<uint64_t> words(2 * 28);
  words[2 * 6] = 0xffffffff;
  const uint64_t address = program.In(words, "words");
  const uint64_t sums = program.Out<uint32_t>(6);
  Expect(program, {.entry = "atomics", .grid = {2, 1, 1}, .block = {64, 1, 1}},
         Packed().Add(address).Add(sums));
  words = program.Take<uint64_t>(address, words.size());
  const std::vector<int64_t> want = AtomicSums();
  for (size_t k = 0; k < want.size(); ++k) {
    if (k == 15) continue;  // any thread's
    EXPECT_EQ(words[2 * k], static_cast<uint64_t>(want[k])) << k;
  }
  if (capability_ >= 90) {
    EXPECT_EQ(words[2 * 23], 0x4300u);  // 128 in bf16
    EXPECT_EQ(words[2 * 24], 0x43004300u);
    EXPECT_EQ(words[2 * 25], 0x4380000043000000u);
    EXPECT_EQ(words[2 * 26 + 1], 0x4400000043c00000u);
    EXPECT_EQ(words[2 * 27 + 1], 0x5800580058005800u);
  }
  const auto held = program.Take<uint32_t>(sums, 6);
  for (int block = 0; block < 2; ++block) {
    EXPECT_EQ(held[3 * block], 128u);
    // Subnormals add up in shared memory.
    EXPECT_EQ(held[3 * block + 1], 64 * std::bit_cast<uint32_t>(1e-40f));
    EXPECT_EQ(held[3 * block + 2], static_cast<uint32_t>(-7));
  }
}

void FormKernels::Warps() {
  Program program = Open("warps");
  const uint64_t out = program.Out<uint32_t>(32 * 18);
  Expect(program, {.entry = "warps", .block = {32, 1, 1}}, Packed().Add(out));
  const auto got = program.Take<uint32_t>(out, 32 * 18);
  uint32_t squares = 0;
  for (uint32_t i = 0; i < 32; ++i) squares ^= i * i;
  for (uint32_t i = 0; i < 32; ++i) {
    uint32_t same = 0;
    for (uint32_t j = 0; j < 32; ++j) same |= uint32_t{j % 3 == i % 3} << j;
    const uint32_t want[] = {i ^ 5,
                             i % 8 + 3 < 8 ? i + 3 : i,
                             i % 16 >= 3 ? i - 3 : i,
                             8,
                             0xaaaaaaaau,
                             1,
                             1,
                             same,
                             0xffffffffu,
                             0xffffffffu,
                             496u - 640u,
                             11,
                             5,
                             32,
                             31,
                             squares,
                             i % 2 == 1 ? 256u : 0u};
    for (size_t k = 0; k < std::size(want); ++k)
      EXPECT_EQ(got[32 * k + i], want[k]) << k << " " << i;
    if (capability_ >= 90) {
      EXPECT_EQ(got[32 * 17 + i], i == 0 ? 100u : 0u);
    }
  }
}

void FormKernels::ReduxFloat() {
  Program program = Open("warps", "#define REDUX_FLOAT\n");
  std::vector<float> in(64);
  for (int i = 0; i < 32; ++i) {
    in[i] = i == 9 ? NAN : static_cast<float>(i);
    in[32 + i] = i == 4 ? NAN : static_cast<float>(i % 2 == 0 ? -i - 3 : i + 3);
  }
  const uint64_t out = program.Out<uint32_t>(64);
  Expect(program, {.entry = "redux_float", .block = {32, 1, 1}},
         Packed().Add(program.In(in)).Add(out));
  const auto got = program.Take<uint32_t>(out, 64);
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(got[i], 0x7fffffffu);
    EXPECT_EQ(got[32 + i], std::bit_cast<uint32_t>(3.0f));
  }
}

void FormKernels::Barriers() {
  Program program = Open("barriers");
  const uint64_t out = program.Out<uint32_t>(96 * 7);
  Expect(program, {.entry = "barriers", .block = {96, 1, 1}}, Packed().Add(out));
  const auto got = program.Take<uint32_t>(out, 96 * 7);
  for (uint32_t t = 0; t < 96; ++t) {
    EXPECT_EQ(got[t], (95 - t) * (95 - t));
    EXPECT_EQ(got[96 + t], (t + 33) % 96 + 1);
    EXPECT_EQ(got[2 * 96 + t], 50u);
    EXPECT_EQ(got[3 * 96 + t], 0u);
    EXPECT_EQ(got[4 * 96 + t], 1u);
    EXPECT_EQ(got[5 * 96 + t], 45u);
    EXPECT_EQ(got[6 * 96 + t], t < 64 ? 0u : 2 * (1000 + t) - 96);
  }
}

void FormKernels::Spaces() {
  Program program = Open("shared");
  std::vector<uint32_t> in(32 * 16);
  for (size_t i = 0; i < in.size(); ++i) in[i] = 0x3f800000u + 3 * static_cast<uint32_t>(i);
  const uint64_t out = program.Out<uint32_t>(in.size());
  Expect(program, {.entry = "spaces", .block = {32, 1, 1}},
         Packed().Add(program.In(in)).Add(out).Add(1.5f).Add(10).Add(uint16_t{7}).Add(int8_t{-3}));
  const auto got = program.Take<uint32_t>(out, in.size());
  const float factors[] = {2.0f, 0.5f, -1.0f, 8.0f};
  for (uint32_t t = 0; t < 32; ++t) {
    const uint32_t* other = &in[16 * (31 - t)];
    const uint32_t* y = &got[16 * t];
    for (int i = 0; i < 8; ++i) EXPECT_EQ(y[i], other[i]);
    EXPECT_EQ(y[8], other[1]);
    EXPECT_EQ(y[9], other[2]);
    EXPECT_EQ(y[10], other[3]);
    EXPECT_EQ(y[11], t + 7 + t + 3 * t + 1000);
    EXPECT_EQ(y[12], std::bit_cast<uint32_t>(factors[t % 4] * 1.5f * 2.0f));
    EXPECT_EQ(y[13], 5u + 1 + 10 + 7 - 3 + 1 + 10 + 7 - 3);
    EXPECT_EQ(y[14], in[0]);
    EXPECT_EQ(y[15], in[16 * t]);
  }
}

uint32_t Ackermann(uint32_t m, uint32_t n) {
  if (m == 0) return n + 1;
  return n == 0 ? Ackermann(m - 1, 1) : Ackermann(m - 1, Ackermann(m, n - 1));
}

void FormKernels::Calls() {
  Program program = Open("calls");
  const uint64_t out = program.Out<uint32_t>(32 * 4);
  Expect(program, {.entry = "calls", .block = {32, 1, 1}}, Packed().Add(out));
  const auto got = program.Take<uint32_t>(out, 32 * 4);
  for (uint32_t t = 0; t < 32; ++t) {
    const uint32_t by_table[] = {t + 13, (t + 10) * 3, t + 7};
    uint64_t n = t + 1;
    uint32_t steps = 0;
    for (; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    EXPECT_EQ(got[4 * t], by_table[t % 3] + (t < 30 ? 100 : 0));
    EXPECT_EQ(got[4 * t + 1], Ackermann(2, t % 4));
    EXPECT_EQ(got[4 * t + 2], t + 2);
    EXPECT_EQ(got[4 * t + 3], steps + 1000 * t + 100000 * (t % 2 == 0 ? t / 2 : 3 * t + 1));
  }
}

void FormKernels::Traps() {
  Program program = Open("calls");
  std::vector<uint32_t> in(32, 4);
  in[13] = 5;
  const absl::Status status =
      program.Launch({.entry = "traps", .block = {32, 1, 1}}, Packed().Add(program.In(in)));
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("thread (13,0,0)"));
  Gather(program);
}

void FormKernels::Registers() {
  Program program = Open("calls");
  const uint64_t out = program.Out<uint32_t>(8 * 24);
  Expect(program, {.entry = "registers", .grid = {2, 3, 4}, .block = {5, 4, 3}}, Packed().Add(out));
  const auto got = program.Take<uint32_t>(out, 8 * 24);
  for (uint32_t b = 0; b < 24; ++b) {
    const uint32_t place = b % 2 + 10 * (b / 2 % 3) + 100 * (b / 6);
    const std::vector<uint32_t> want = {0, 1, 59 % 32, 59, place, 432, 234, 59 % 32};
    EXPECT_EQ(std::vector<uint32_t>(&got[8 * b], &got[8 * b] + 8), want) << b;
  }
}

void FormKernels::CopyAsync() {
  Program program = Open("async");
  std::vector<float> in(384);
  std::iota(in.begin(), in.end(), 1.0f);
  const uint64_t out = program.Out<float>(288);
  Expect(program, {.entry = "copy_async", .block = {32, 1, 1}},
         Packed().Add(program.In(in)).Add(out));
  const auto got = program.Take<float>(out, 288);
  for (int i = 0; i < 128; ++i) {
    EXPECT_EQ(got[i % 32], in[i % 32 * 5 % 128]);
    EXPECT_EQ(got[32 + i], in[128 + i]);
    EXPECT_EQ(got[160 + i], i % 4 < i / 4 % 5 ? in[256 + i] : 0.0f) << i;
  }
}

void FormKernels::PipelinedSum() {
  Program program = Open("async");
  constexpr int kRows = 77;
  std::vector<float> in(kRows * 128);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 31 % 97);
  const uint64_t out = program.Out<float>(128);
  Expect(program, {.entry = "pipelined_sum", .block = {128, 1, 1}},
         Packed().Add(program.In(in)).Add(out).Add(kRows));
  const auto got = program.Take<float>(out, 128);
  for (int column = 0; column < 128; ++column) {
    float sum = 0;
    for (int row = 0; row < kRows; ++row) sum += in[row * 128 + column];
    EXPECT_EQ(got[column], sum) << column;
  }
}

void FormKernels::Bulk() {
  Program program = Open("bulk");
  std::vector<float> in(1024);
  std::iota(in.begin(), in.end(), 0.0f);
  const uint64_t out = program.Out<float>(1024);
  const uint64_t sums = program.Out<float>(1024);
  Expect(program, {.entry = "bulk", .grid = {3, 1, 1}, .block = {64, 1, 1}},
         Packed().Add(program.In(in)).Add(out).Add(sums));
  const auto doubled = program.Take<float>(out, 1024);
  const auto added = program.Take<float>(sums, 1024);
  for (int i = 0; i < 1024; ++i) {
    EXPECT_EQ(doubled[i], 2.0f * i);
    EXPECT_EQ(added[i], 6.0f * i);
  }
}

void FormKernels::ClusterForms() {
  Program program = Open("cluster");
  const std::vector<uint32_t> in = {3, 1, 4, 1, 5, 9, 2, 6};
  const uint64_t out = program.Out<uint32_t>(8 * 8);
  Expect(program,
         {.entry = "cluster_forms", .grid = {8, 1, 1}, .block = {64, 1, 1}, .cluster = {4, 1, 1}},
         Packed().Add(program.In(in)).Add(out));
  const auto got = program.Take<uint32_t>(out, 64);
  for (uint32_t block = 0; block < 8; ++block) {
    const uint32_t rank = block % 4;
    const uint32_t before = (rank + 3) % 4;
    uint32_t words = 0;
    for (const uint32_t word : in) words = words * 3 + word + before;
    const uint32_t* y = &got[8 * block];
    EXPECT_EQ(y[0], rank);
    // Every thread of all four added two values of other blocks.
    EXPECT_EQ(y[1], rank == 0 ? 4 * 2 * (64 * 150 + 63 * 32) : 0u);
    EXPECT_EQ(y[2], words);
    EXPECT_EQ(y[3], before + 5);
    EXPECT_EQ(y[4], 4006u);
  }
}

}  // namespace

std::set<std::string> RunFormKernels(const std::string& arch, GpuOptions options) {
  return FormKernels(arch, options).Run();
}

}  // namespace onepass::sim
