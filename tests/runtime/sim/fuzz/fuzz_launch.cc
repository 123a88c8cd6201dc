#include "tests/runtime/sim/fuzz/fuzz_launch.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "codegen/device_spec.h"
#include "runtime/device/sim_machine.h"
#include "runtime/sim/gpu.h"

namespace onepass::sim {
namespace {

constexpr int64_t kBufferBytes = 1 << 16;
constexpr int64_t kInstructionLimit = 1 << 14;
constexpr int64_t kCheckedLimit = 1 << 9;  // checked launches are that much slower

template <class T>
T OneOf(Random& random, std::initializer_list<T> values) {
  return values.begin()[random.Below(values.size())];
}

Machine AnyMachine(Random& random) {
  const auto& devices = KnownDevices();
  Machine machine = MachineOf(devices[random.Below(devices.size())]);
  machine.l2_bytes = 1 << 20;  // the directory of a real one takes longer than the kernel
  machine.global_bytes = 64 << 20;
  return machine;
}

GpuOptions AnyOptions(Random& random) {
  GpuOptions options;
  options.seed = OneOf<uint64_t>(random, {0, 0, 1, random.Next()});
  options.approx_seed = OneOf<uint64_t>(random, {0, 0, 1, 2, 3});
  options.host_threads = OneOf(random, {1, 1, 1, 2});
  options.state_limit = 256 << 20;
  options.count_traffic = random.Below(2) == 0;
  options.sanitize = random.Below(2) == 0;
  options.instruction_limit = options.sanitize ? kCheckedLimit : kInstructionLimit;
  options.record_forms = random.Below(8) == 0;
  return options;
}

LaunchShape AnyShape(const Entry& entry, Random& random) {
  LaunchShape shape;
  shape.entry = entry.name;
  shape.grid[0] = OneOf(random, {1u, 1u, 2u, 3u});
  shape.grid[1 + random.Below(2)] = OneOf(random, {1u, 1u, 1u, 2u});
  shape.block[0] = OneOf(random, {1u, 16u, 32u, 32u, 33u, 64u, 96u, 128u, 256u});
  shape.block[1] = OneOf(random, {1u, 1u, 1u, 1u, 2u, 3u});
  shape.dynamic_shared_bytes = OneOf<int64_t>(random, {0, 0, 4, 1024, 4096, 60000});
  shape.cooperative = random.Below(4) == 0;
  for (int i = 0; i < 3; ++i) {
    if (entry.required_threads[i] != 0) shape.block[i] = entry.required_threads[i];
    if (entry.required_cluster[i] != 0) shape.grid[i] = entry.required_cluster[i];
  }
  if (random.Below(4) == 0 && entry.required_cluster[0] == 0) {
    shape.cluster[0] = OneOf(random, {2u, 4u, 8u});
    shape.grid[0] *= shape.cluster[0];
  }
  if (random.Below(32) == 0) {  // mostly a wrong request
    const uint32_t extreme = OneOf(random, {0u, 1024u, 65535u, 65536u, 0x7fffffffu, 0xffffffffu});
    OneOf(random, {shape.grid, shape.block, shape.cluster})[random.Below(3)] = extreme;
  }
  if (random.Below(32) == 0) {
    shape.dynamic_shared_bytes = OneOf<int64_t>(random, {-1, 227 * 1024, INT64_MAX, INT64_MIN});
    shape.registers_per_thread = OneOf(random, {1, 255, INT32_MAX - 7});
  }
  return shape;
}

uint64_t AnyScalar(Random& random) {
  return OneOf<uint64_t>(random, {0, 1, 2, 31, 32, 100, 256, 1000, 0x3f800000, 0x7fc00000,
                                  0x7fffffff, 0xffffffff, uint64_t{1} << 40, random.Next()});
}

// Buffers that hold small numbers, ones of f32, nothing at all.
std::vector<uint64_t> MakeBuffers(Gpu& gpu, Random& random) {
  std::vector<uint64_t> addresses;
  for (const int kind : {0, 1, 2, 3}) {
    const auto address = gpu.memory().Allocate(kBufferBytes, 256, kind == 3 ? 4 : 0, "buffer", 4);
    if (!address.ok()) continue;
    std::vector<uint32_t> words(kBufferBytes / 4);
    for (size_t i = 0; i < words.size(); ++i) {
      words[i] = kind == 1 ? 0x3f800000u + static_cast<uint32_t>(i) : kind == 2 ? i % 64 : 0;
    }
    if (kind != 3) (void)gpu.memory().Write(*address, words.data(), kBufferBytes);
    if (kind == 1 && random.Below(8) == 0) gpu.memory().SetReadOnly(*address);
    addresses.push_back(*address);
  }
  return addresses;
}

uint64_t AnyArgument(const Parameter& parameter, const std::vector<uint64_t>& buffers,
                     Random& random) {
  if (parameter.bytes != 8 || random.Below(8) == 0) return AnyScalar(random);
  const uint64_t offset = OneOf<uint64_t>(random, {0, 0, 0, 0, 4, 8, 1, 0 - uint64_t{4}});
  return buffers[random.Below(buffers.size())] + offset;
}

std::vector<uint8_t> AnyArguments(const Entry& entry, const std::vector<uint64_t>& buffers,
                                  Random& random) {
  std::vector<uint8_t> bytes(entry.parameter_bytes);
  for (const Parameter& parameter : entry.parameters) {
    const uint64_t value = AnyArgument(parameter, buffers, random);
    std::memcpy(bytes.data() + parameter.offset, &value, std::min<int64_t>(parameter.bytes, 8));
  }
  if (random.Below(32) == 0) bytes.resize(bytes.size() + OneOf<size_t>(random, {1, 8}));
  return bytes;
}

}  // namespace

absl::Status LaunchAtRandom(const Module& module, const Entry& entry, Random& random) {
  Gpu gpu(AnyMachine(random), AnyOptions(random));
  const LaunchShape shape = AnyShape(entry, random);
  const std::vector<uint64_t> buffers = MakeBuffers(gpu, random);
  const std::vector<uint8_t> arguments = AnyArguments(entry, buffers, random);
  absl::Status status = gpu.Launch(module, shape, arguments);
  if (random.Below(4) == 0) status = gpu.Launch(module, shape, arguments);
  (void)gpu.TakeCounts();
  (void)gpu.TakeFindings();
  (void)gpu.TakeForms();
  (void)gpu.TakePrinted();
  if (random.Below(4) == 0) gpu.Unload(module);
  return status;
}

}  // namespace onepass::sim
