// The table of pipe slots against machine code: for kernels of every strategy and type, and three
// architectures, the PTX instructions times their slots are the instructions of the cubin within
// 15 %. Trailing NOPs, which pad the text, are not counted.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>

#include "codegen/emit.h"
#include "codegen/plan.h"
#include "codegen/strategy.h"
#include "runtime/sim/module.h"
#include "runtime/sim/pipes.h"
#include "tests/runtime/simulated_case.h"

namespace onepass {
namespace {

constexpr const char* kLines[] = {
    "batch_norm.infer f16 2x96x7x7:nhwc residual act=relu",
    "batch_norm.train f32 4x8x28x28",
    "batch_norm.train f16 64x256x56x56:nhwc act=swish",
    "batch_norm.train bf16 32x64x56x56",
    "batch_norm.train f64 16x64x56x56",
    "gelu_erf.fwd f32 64x1024",
    "softplus.fwd f32 64x1024",
    "tanh.fwd f16 64x1024",
    "sigmoid.fwd f64 64x1024",
    "swish.fwd bf16 64x1024",
};

template <class T>
T At(const std::vector<uint8_t>& bytes, uint64_t offset) {
  T value{};
  if (offset + sizeof(T) <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// The instructions of an ELF's .text sections, 16 bytes each.
int64_t InstructionsOf(const std::vector<uint8_t>& elf) {
  constexpr uint16_t kNop = 0x918;
  const auto headers = At<uint64_t>(elf, 0x28);
  const auto header_bytes = At<uint16_t>(elf, 0x3a);
  const auto section = [&](int i) { return headers + uint64_t{header_bytes} * i; };
  const auto names = At<uint64_t>(elf, section(At<uint16_t>(elf, 0x3e)) + 0x18);
  int64_t instructions = 0;
  for (int i = 0; i < At<uint16_t>(elf, 0x3c); ++i) {
    const uint64_t name = names + At<uint32_t>(elf, section(i));
    if (std::memcmp(elf.data() + name, ".text.", 6) != 0) continue;
    const auto begin = At<uint64_t>(elf, section(i) + 0x18);
    auto end = begin + At<uint64_t>(elf, section(i) + 0x20);
    while (end > begin && (At<uint16_t>(elf, end - 16) & 0xfff) == kNop) end -= 16;
    instructions += static_cast<int64_t>((end - begin) / 16);
  }
  return instructions;
}

double SlotsOf(const std::string& ptx, int arch) {
  const auto module = sim::Module::Parse(ptx);
  EXPECT_TRUE(module.ok()) << module.status();
  double hundredths = 0;
  for (const sim::Kernel& kernel : (*module)->program().kernels) {
    for (const sim::Slots& slots : sim::SlotsOf(kernel, arch)) hundredths += slots.text();
  }
  return hundredths / 100;
}

TEST(PipeTableTest, SlotsAreTheInstructionsOfTheMachineCode) {
  std::set<std::string> strategies, all;
  for (const Strategy& strategy : Strategies()) all.emplace(strategy.name);
  for (const char* chip : {"a100", "h200", "b200"}) {
    const DeviceSpec& device = *FindDevice(chip);
    for (const char* line : kLines) {
      const Key key = KeyOf(ProblemOf(line), 16);
      for (const std::string& strategy : all) {
        const auto plan = PlanFor(key, device, strategy);
        if (!plan.ok()) continue;
        strategies.insert(strategy);
        const auto binary = TheNvrtc().Compile(EmitSource(key, *plan), device.arch());
        ASSERT_TRUE(binary.ok()) << binary.status();
        const auto counted = static_cast<double>(InstructionsOf(binary->cubin));
        const double estimated = SlotsOf(binary->ptx, device.compute);
        std::printf("  %-52s %-16s %-6s %6.0f instructions %6.0f slots %.3f\n", line,
                    strategy.c_str(), device.arch().c_str(), counted, estimated,
                    estimated / counted);
        ASSERT_GT(counted, 0);
        EXPECT_LT(std::abs(estimated / counted - 1), 0.15) << line << " " << strategy;
      }
    }
  }
  EXPECT_EQ(strategies, all);
}

}  // namespace
}  // namespace onepass
