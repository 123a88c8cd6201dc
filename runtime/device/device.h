// Device: where kernels run. Two implementations: `cuda` (driver API, loaded at run time) and `sim`
// (the simulated GPU). Both take the same Binary and the same launches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "codegen/counters.h"
#include "codegen/device_spec.h"
#include "codegen/plan.h"
#include "llvm/ADT/ArrayRef.h"
#include "runtime/binary.h"

namespace onepass {

using DeviceAddress = uint64_t;

struct Allocation {
  int64_t bytes = 0;
  // The address is `offset` modulo 2*offset; 0: aligned to at least 256 bytes.
  int64_t offset = 0;
  std::string label;      // named in messages about bad accesses, e.g. "x"
  int element_bytes = 1;  // the unit in which such messages state an index
};

// A module loaded on a device. Unloads itself; must not outlive its Device.
class LoadedModule {
 public:
  virtual ~LoadedModule() = default;
};

// One kernel to launch: which, in what shape, with which parameter block. Our kernels take one
// struct by value.
struct KernelLaunch {
  const LoadedModule* module = nullptr;
  LaunchShape shape;
  llvm::ArrayRef<uint8_t> arguments;
};

// An opaque stream of the device; 0 is the default stream.
using Stream = uint64_t;

// What was seen between BeginMeasure and EndMeasure.
struct Measurement {
  std::optional<double> microseconds;  // real devices, by events
  std::optional<Counters> counters;    // simulated devices
  std::vector<std::string> findings;   // of the simulated device's checkers
};

// Thread safe unless said otherwise. Errors: kInvalidArgument for a wrong request,
// kResourceExhausted for too little memory, kAborted for a fault of the running kernel, kInternal
// for anything the driver says.
class Device {
 public:
  virtual ~Device() = default;

  // "sim:h200", "cuda:0".
  virtual const std::string& name() const = 0;
  virtual const DeviceSpec& spec() const = 0;
  virtual bool simulated() const = 0;

  virtual absl::StatusOr<DeviceAddress> Allocate(const Allocation& allocation) = 0;
  virtual absl::Status Free(DeviceAddress address) = 0;
  virtual absl::Status CopyIn(DeviceAddress to, llvm::ArrayRef<uint8_t> from) = 0;
  virtual absl::Status CopyOut(llvm::MutableArrayRef<uint8_t> to, DeviceAddress from) = 0;
  virtual absl::Status Fill(DeviceAddress address, uint8_t byte, int64_t bytes) = 0;

  // `kernels` are the entry points, in the order that LaunchShape::kernel counts.
  virtual absl::StatusOr<std::unique_ptr<LoadedModule>> Load(
      const Binary& binary, llvm::ArrayRef<std::string> kernels) = 0;
  // Asynchronous on real devices, done on return on simulated ones. The arguments are copied.
  virtual absl::Status Launch(const KernelLaunch& launch, Stream stream) = 0;
  virtual absl::Status Synchronize(Stream stream) = 0;

  // Brackets a sequence of launches: a simulated device begins with cold caches and zero counts and
  // ends with the final write-back; a real one records events around it. Not reentrant.
  virtual absl::Status BeginMeasure(Stream stream) = 0;
  virtual absl::StatusOr<Measurement> EndMeasure(Stream stream) = 0;
};

}  // namespace onepass
