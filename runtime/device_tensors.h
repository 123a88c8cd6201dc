// DeviceTensors: the tensors of one problem in a device's memory.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "codegen/key.h"
#include "codegen/plan.h"
#include "codegen/problem.h"
#include "codegen/roles.h"
#include "llvm/ADT/ArrayRef.h"
#include "runtime/device/device.h"
#include "runtime/reference/reference.h"
#include "runtime/workspace.h"

namespace onepass {

// Frees what it allocated. Not thread safe; must not outlive the device.
class DeviceTensors {
 public:
  // Allocates every tensor of TensorsOf(problem), placed as `align` asks for; a tensor that shares
  // another's buffer gets its address. Empty tensors have address 0.
  static absl::StatusOr<DeviceTensors> Allocate(Device& device, const Problem& problem);

  DeviceTensors(DeviceTensors&& other) noexcept;
  DeviceTensors& operator=(DeviceTensors&&) = delete;
  ~DeviceTensors();

  const Buffers& buffers() const { return buffers_; }
  // Nothing where nothing was asked for.
  Workspace workspace() const { return workspace_; }

  // Allocates what a schedule needs and zeroes its barrier words.
  absl::Status AllocateWorkspace(const Schedule& schedule);

  absl::Status CopyIn(llvm::ArrayRef<HostTensor> inputs);
  // Fills the outputs that are no inputs too with bytes that read as NaN, so that what a kernel
  // leaves unwritten is seen.
  absl::Status SpoilOutputs();
  absl::StatusOr<std::vector<HostTensor>> CopyOutputs() const;

 private:
  explicit DeviceTensors(Device& device) : device_(&device) {}
  absl::StatusOr<DeviceAddress> AllocateOne(const Allocation& allocation);

  Device* device_;
  llvm::SmallVector<TensorSpec, 8> specs_;
  Buffers buffers_;
  Workspace workspace_;
  std::vector<DeviceAddress> owned_;
};

// Bytes of a tensor's elements and of what lies between them.
int64_t SpanBytes(const TensorSpec& spec);

}  // namespace onepass
