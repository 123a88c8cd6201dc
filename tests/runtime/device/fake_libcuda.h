// A driver that runs nothing and checks everything: a shared library with the functions of libcuda
// that CudaDriver looks up. It tells whether each call is one that the real driver would take
// (known handles, a current context, ranges inside allocations, launches inside the chip's limits),
// keeps the bytes of its "device memory", and records what was called.
//
// A test gets at its state by looking up FakeCudaState in the same library.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace onepass {

struct FakeGpu {
  std::string name;
  int64_t memory = 0;
  std::map<int, int> attributes;  // by CUdevice_attribute

  int Attribute(int which) const;
  int compute() const;
};

// As an H200 describes itself.
FakeGpu FakeH200();

// What a fake binary says of a kernel.
struct FakeKernel {
  std::string name;
  int argument_bytes = 0;
  int static_shared_bytes = 0;
  int max_threads = 1024;
  std::vector<int> pointer_offsets;  // where the argument holds addresses of allocations
};

// Machine code for sm_`compute`, and PTX, that the fake driver loads.
std::vector<uint8_t> FakeCubin(int compute, const std::vector<FakeKernel>& kernels);
std::string FakePtx(const std::vector<FakeKernel>& kernels);

struct FakeLaunch {
  std::string kernel;
  std::array<uint32_t, 3> grid = {}, block = {}, cluster = {1, 1, 1};
  uint32_t shared_bytes = 0;
  bool cooperative = false;
  uint64_t stream = 0;
  std::vector<uint8_t> argument;
};

// A loaded kernel.
struct FakeFunction {
  FakeKernel kernel;
  int64_t allowed_shared_bytes = 0;  // dynamic; 0: what every kernel may have
  bool large_clusters = false;
  bool loaded = false;
};

struct FakeModule {
  std::map<std::string, FakeFunction> functions;
};

class FakeCuda {
 public:
  FakeCuda() { Reset(); }

  // One H200, no failures, nothing recorded. Objects that are alive stay.
  void Reset();

  std::vector<FakeGpu> gpus;
  // What a call (by the name it has in the driver's header) returns instead of doing anything.
  std::map<std::string, int> failures;
  std::vector<uint64_t> streams;  // that are valid besides the default one
  double launch_us = 0;           // what a launch takes

  std::vector<std::string> calls;
  std::vector<FakeLaunch> launches;
  // What was wrong with calls that were refused.
  std::vector<std::string> complaints;

  // Contexts retained, allocations, modules and events that were not given back.
  int alive() const;

  // For the driver's functions, which hold `mutex`.
  std::mutex mutex;
  bool started = false;
  std::map<const void*, int> contexts;                   // how often retained
  std::map<uint64_t, std::vector<uint8_t>> allocations;  // their bytes
  std::map<const void*, FakeModule> modules;
  std::map<const void*, size_t> events;  // launches before the event was recorded
  uint64_t next_address = 0x7f0000000000;

  // The allocation's bytes at that address, or null where the range is not inside of one.
  uint8_t* At(uint64_t address, uint64_t bytes);
  FakeFunction* FindFunction(const void* handle);
  bool KnowsStream(const void* stream) const;

  // Why the driver would refuse to launch this, with its code; 0 and "" where it would not.
  struct Refusal {
    int code = 0;
    std::string reason;
  };
  Refusal RefusalOf(const FakeLaunch& launch, const FakeFunction& function, const FakeGpu& gpu);
};

}  // namespace onepass

extern "C" onepass::FakeCuda* FakeCudaState();
