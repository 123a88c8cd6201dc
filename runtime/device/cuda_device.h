// A GPU behind NVIDIA's driver, as a Device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "llvm/ADT/ArrayRef.h"
#include "runtime/device/cuda_primary.h"
#include "runtime/device/device.h"

namespace onepass {

// Works in the GPU's primary context, whatever the calling thread's current one is, and leaves that
// as it was. Launches go into the stream that is named, a CUstream of that context. Copies and
// fills stand in the default stream and are done on return; they do not wait for streams that were
// made not to block with it: Synchronize those first.
//
// At the end it frees what was not freed.
class CudaDevice final : public Device {
 public:
  // UNAVAILABLE where the driver has no such GPU.
  static absl::StatusOr<std::unique_ptr<Device>> Open(std::shared_ptr<const CudaDriver> driver,
                                                      int ordinal);
  ~CudaDevice() override;

  const std::string& name() const override { return name_; }
  const DeviceSpec& spec() const override { return spec_; }
  bool simulated() const override { return false; }

  absl::StatusOr<DeviceAddress> Allocate(const Allocation& allocation) override;
  absl::Status Free(DeviceAddress address) override;
  absl::Status CopyIn(DeviceAddress to, llvm::ArrayRef<uint8_t> from) override;
  absl::Status CopyOut(llvm::MutableArrayRef<uint8_t> to, DeviceAddress from) override;
  absl::Status Fill(DeviceAddress address, uint8_t byte, int64_t bytes) override;
  absl::StatusOr<std::unique_ptr<LoadedModule>> Load(const Binary& binary,
                                                     llvm::ArrayRef<std::string> kernels) override;
  absl::Status Launch(const KernelLaunch& launch, Stream stream) override;
  absl::Status Synchronize(Stream stream) override;
  absl::Status BeginMeasure(Stream stream) override;
  absl::StatusOr<Measurement> EndMeasure(Stream stream) override;

 private:
  CudaDevice(std::shared_ptr<const RetainedPrimary> primary, DeviceSpec spec, int ordinal);

  const CudaDriver& driver() const { return primary_->driver(); }

  const std::shared_ptr<const RetainedPrimary> primary_;
  const DeviceSpec spec_;
  const std::string name_;
  CUevent_st* begin_ = nullptr;  // of the measurement; made by the first one
  CUevent_st* end_ = nullptr;
  absl::Mutex mutex_;
  // What was handed out, and what the driver had allocated for it.
  absl::flat_hash_map<DeviceAddress, uint64_t> allocations_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace onepass
