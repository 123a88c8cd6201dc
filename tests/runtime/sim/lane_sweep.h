// One instruction over many operands, a thread each: what sweeps of values are made of.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/runtime/sim/run_ptx.h"

namespace onepass::sim {

// Values of 16, 32 or 64 bits, in %h0, %r1, %d2... as their size is; the result goes to number 10.
// `op` is the instruction of `op d, s0, s1...;`, or, where it ends with ';', whole instructions.
struct LaneSweep {
  std::string op;
  int result_bits = 32;
  std::vector<int> source_bits = {32};
  GpuOptions options = {};
};

// sources[k][i] is operand k of lane i; all of one length. Returns the results' bits.
inline std::vector<uint64_t> RunSweep(const LaneSweep& sweep,
                                      const std::vector<std::vector<uint64_t>>& sources) {
  const size_t count = sources[0].size();
  const auto reg = [](int bits, size_t k) {
    return (bits == 16 ? "%h" : bits == 32 ? "%r" : "%d") + std::to_string(k);
  };
  std::string body =
      "mov.u32 %r20, %ctaid.x; mov.u32 %r21, %tid.x; mad.lo.u32 %r22, %r20, 256, %r21;\n"
      "setp.ge.u32 %p1, %r22, " +
      std::to_string(count) + "; @%p1 exit; mul.wide.u32 %d20, %r22, 8;\n";
  std::string operands = reg(sweep.result_bits, 10);
  for (size_t k = 0; k < sources.size(); ++k) {
    const std::string bits = std::to_string(sweep.source_bits[k]);
    body += "add.u64 %d21, %d30, " + std::to_string(8 * count * k) +
            "; add.u64 %d21, %d21, %d20; ld.b" + bits + " " + reg(sweep.source_bits[k], k) +
            ", [%d21];\n";
    operands += ", " + reg(sweep.source_bits[k], k);
  }
  body += sweep.op.ends_with(';') ? sweep.op : sweep.op + " " + operands + ";";
  body += "\nadd.u64 %d22, %d31, %d20; st.b" + std::to_string(sweep.result_bits) + " [%d22], " +
          reg(sweep.result_bits, 10) + ";";
  auto module = Module::Parse(KernelText(body));
  EXPECT_TRUE(module.ok()) << module.status() << " " << sweep.op;
  if (!module.ok()) return std::vector<uint64_t>(count);
  Gpu gpu(Machine{.sms = 4}, sweep.options);
  std::vector<uint64_t> in;
  for (const auto& source : sources) in.insert(in.end(), source.begin(), source.end());
  const uint64_t from = Upload(gpu, in, "in");
  const uint64_t to = Upload(gpu, std::vector<uint64_t>(count), "out");
  const LaunchShape shape{.entry = "k",
                          .grid = {static_cast<uint32_t>((count + 255) / 256), 1, 1},
                          .block = {256, 1, 1}};
  const auto status = gpu.Launch(**module, shape, Packed().Add(from).Add(to).bytes());
  EXPECT_TRUE(status.ok()) << status << " " << sweep.op;
  return Download<uint64_t>(gpu, to, count);
}

}  // namespace onepass::sim
