// Kernels loaded on a GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/device_spec.h"
#include "llvm/ADT/ArrayRef.h"
#include "runtime/binary.h"
#include "runtime/device/cuda_primary.h"
#include "runtime/device/device.h"

namespace onepass {

// The cubin where there is one that this GPU takes, else the PTX, which the driver compiles. All
// that a launch may need is set here, once: the code is on the device (a launch may be inside a
// graph capture, where nothing can be loaded), shared memory and large clusters are allowed.
class CudaModule final : public LoadedModule {
 public:
  struct Kernel {
    std::string name;
    CUfunc_st* function = nullptr;
    int64_t argument_bytes = -1;  // of its one parameter; -1 where the driver does not tell
  };

  // Errors are the driver's; for PTX with its compiler's log.
  static absl::StatusOr<std::unique_ptr<CudaModule>> Load(
      const std::shared_ptr<const RetainedPrimary>& primary, const DeviceSpec& spec,
      const Binary& binary, llvm::ArrayRef<std::string> kernels);
  ~CudaModule() override;

  // In the order in which they were asked for.
  const std::vector<Kernel>& kernels() const { return kernels_; }

 private:
  CudaModule(std::shared_ptr<const RetainedPrimary> primary, CUmod_st* handle);

  absl::Status Prepare(const DeviceSpec& spec, const std::string& name);

  std::shared_ptr<const RetainedPrimary> primary_;
  CUmod_st* handle_;
  std::vector<Kernel> kernels_;
};

}  // namespace onepass
