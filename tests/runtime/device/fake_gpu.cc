// What the fake driver knows of chips, binaries and launches.
#include <algorithm>
#include <cstring>
#include <sstream>

#include "tests/runtime/device/fake_libcuda.h"

namespace onepass {
namespace {

// CUdevice_attribute and CUresult, as the driver's documentation numbers them.
constexpr int kClockKhz = 13, kSms = 16, kMemoryClockKhz = 36, kBusWidth = 37, kL2Bytes = 38,
              kThreadsPerSm = 39, kMajor = 75, kMinor = 76, kSharedPerSm = 81, kRegistersPerSm = 82,
              kSharedOptIn = 97, kBlocksPerSm = 106;
constexpr int kInvalidValue = 1, kOutOfResources = 701, kCooperativeTooLarge = 720,
              kInvalidClusterSize = 912;

constexpr int64_t kSharedWithoutOptIn = 48 * 1024;
constexpr int64_t kReservedShared = 1024;

std::string TextOf(const std::vector<FakeKernel>& kernels, const std::string& prefix) {
  std::ostringstream text;
  for (const FakeKernel& kernel : kernels) {
    text << prefix << "kernel " << kernel.name << " " << kernel.argument_bytes << " "
         << kernel.static_shared_bytes << " " << kernel.max_threads;
    for (int offset : kernel.pointer_offsets) text << " " << offset;
    text << "\n";
  }
  return text.str();
}

uint64_t Product(const std::array<uint32_t, 3>& sizes) {
  return uint64_t{sizes[0]} * sizes[1] * sizes[2];
}

}  // namespace

int FakeGpu::Attribute(int which) const {
  auto found = attributes.find(which);
  return found == attributes.end() ? 0 : found->second;
}

int FakeGpu::compute() const { return 10 * Attribute(kMajor) + Attribute(kMinor); }

FakeGpu FakeH200() {
  return {.name = "NVIDIA H200",
          .memory = 150'000'000'000,
          .attributes = {{kClockKhz, 1'980'000},
                         {kSms, 132},
                         {kMemoryClockKhz, 3'201'000},
                         {kBusWidth, 6144},
                         {kL2Bytes, 62'914'560},
                         {kThreadsPerSm, 2048},
                         {kMajor, 9},
                         {kMinor, 0},
                         {kSharedPerSm, 233'472},
                         {kRegistersPerSm, 65'536},
                         {kSharedOptIn, 232'448},
                         {kBlocksPerSm, 32}}};
}

std::vector<uint8_t> FakeCubin(int compute, const std::vector<FakeKernel>& kernels) {
  // As the real one, it says itself how long it is: the driver is given no size.
  std::string text = "sm " + std::to_string(compute) + "\n" + TextOf(kernels, "");
  std::string cubin =
      "\x7f"
      "FAKE";
  cubin.push_back(static_cast<char>(text.size()));
  cubin.push_back(static_cast<char>(text.size() >> 8));
  cubin += text;
  return {cubin.begin(), cubin.end()};
}

std::string FakePtx(const std::vector<FakeKernel>& kernels) {
  return ".version 9.0\n" + TextOf(kernels, "// ");
}

void FakeCuda::Reset() {
  gpus = {FakeH200()};
  failures.clear();
  streams.clear();
  launch_us = 250;
  calls.clear();
  launches.clear();
  complaints.clear();
}

int FakeCuda::alive() const {
  int count = static_cast<int>(allocations.size() + modules.size() + events.size());
  for (const auto& [context, retained] : contexts) count += retained;
  return count;
}

uint8_t* FakeCuda::At(uint64_t address, uint64_t bytes) {
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin()) return nullptr;
  auto& [base, held] = *std::prev(after);
  uint64_t offset = address - base;
  if (offset > held.size() || bytes > held.size() - offset) return nullptr;
  return held.data() + offset;
}

FakeFunction* FakeCuda::FindFunction(const void* handle) {
  for (auto& [module_handle, module] : modules) {
    for (auto& [name, function] : module.functions) {
      if (&function == handle) return &function;
    }
  }
  return nullptr;
}

bool FakeCuda::KnowsStream(const void* stream) const {
  uint64_t number = reinterpret_cast<uintptr_t>(stream);
  return number == 0 || std::find(streams.begin(), streams.end(), number) != streams.end();
}

FakeCuda::Refusal FakeCuda::RefusalOf(const FakeLaunch& launch, const FakeFunction& function,
                                      const FakeGpu& gpu) {
  const auto& [x, y, z] = launch.grid;
  if (Product(launch.grid) == 0 || x > 0x7fffffff || y > 65'535 || z > 65'535) {
    return {kInvalidValue, "grid outside of the limits"};
  }
  const uint64_t threads = Product(launch.block);
  if (threads == 0 || launch.block[2] > 64) return {kInvalidValue, "block outside of the limits"};
  if (threads > static_cast<uint64_t>(function.kernel.max_threads)) {
    return {kOutOfResources, "more threads than the kernel is made for"};
  }
  int64_t allowed = function.allowed_shared_bytes;
  if (allowed == 0) allowed = kSharedWithoutOptIn - function.kernel.static_shared_bytes;
  if (launch.shared_bytes > allowed) return {kInvalidValue, "more shared memory than allowed"};

  const uint64_t cluster = Product(launch.cluster);
  if (cluster > 1 && gpu.compute() < 90) return {kInvalidValue, "clusters before sm_90"};
  if (cluster == 0 || cluster > (function.large_clusters ? 16u : 8u)) {
    return {kInvalidClusterSize, "cluster size"};
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (launch.grid[axis] % launch.cluster[axis] != 0) {
      return {kInvalidValue, "a grid of no whole clusters"};
    }
  }
  if (launch.cooperative) {
    const uint64_t by_threads = static_cast<uint64_t>(gpu.Attribute(kThreadsPerSm)) / threads;
    const uint64_t by_shared =
        static_cast<uint64_t>(gpu.Attribute(kSharedPerSm)) /
        static_cast<uint64_t>(launch.shared_bytes + function.kernel.static_shared_bytes +
                              kReservedShared);
    const uint64_t resident =
        std::min(by_threads, by_shared) * static_cast<uint64_t>(gpu.Attribute(kSms));
    if (Product(launch.grid) > resident) {
      return {kCooperativeTooLarge, "more blocks than are resident at once"};
    }
  }
  for (int offset : function.kernel.pointer_offsets) {
    uint64_t address = 0;
    std::memcpy(&address, launch.argument.data() + offset, sizeof(address));
    if (At(address, 1) == nullptr) {
      return {kInvalidValue, "no allocation holds the pointer at " + std::to_string(offset)};
    }
  }
  return {};
}

}  // namespace onepass
