// The context that everything of a device lives in.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/cuda_driver.h"

namespace onepass {

// A device's primary context, which all libraries of a process share: memory and streams of the
// embedding engine are good in it. Released at the end; outlives everything that is made in it,
// because whoever makes something holds it.
class RetainedPrimary {
 public:
  static absl::StatusOr<std::shared_ptr<const RetainedPrimary>> Of(
      std::shared_ptr<const CudaDriver> driver, int device);
  ~RetainedPrimary();

  const CudaDriver& driver() const { return *driver_; }
  CUctx_st* handle() const { return handle_; }

 private:
  RetainedPrimary(std::shared_ptr<const CudaDriver> driver, int device, CUctx_st* handle);

  std::shared_ptr<const CudaDriver> driver_;
  int device_;
  CUctx_st* handle_;
};

// Makes a primary context the calling thread's current one, and puts back what was there at the
// end. Costs one call where it is current already, as in a process that computes on this device.
class CudaScope {
 public:
  explicit CudaScope(const RetainedPrimary& primary);
  CudaScope(const CudaScope&) = delete;
  CudaScope& operator=(const CudaScope&) = delete;
  ~CudaScope();

  // Nothing may be called where this is an error.
  const absl::Status& status() const { return status_; }

 private:
  const CudaDriver& driver_;
  absl::Status status_;
  bool pushed_ = false;
};

}  // namespace onepass
