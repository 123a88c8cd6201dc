#include "runtime/device/cuda_primary.h"

#include <utility>

namespace onepass {

absl::StatusOr<std::shared_ptr<const RetainedPrimary>> RetainedPrimary::Of(
    std::shared_ptr<const CudaDriver> driver, int device) {
  absl::StatusOr<CUctx_st*> handle = driver->RetainPrimary(device);
  if (!handle.ok()) return handle.status();
  return std::shared_ptr<const RetainedPrimary>(
      new RetainedPrimary(std::move(driver), device, *handle));
}

RetainedPrimary::RetainedPrimary(std::shared_ptr<const CudaDriver> driver, int device,
                                 CUctx_st* handle)
    : driver_(std::move(driver)), device_(device), handle_(handle) {}

RetainedPrimary::~RetainedPrimary() { driver_->ReleasePrimary(device_).IgnoreError(); }

CudaScope::CudaScope(const RetainedPrimary& primary) : driver_(primary.driver()) {
  absl::StatusOr<CUctx_st*> current = driver_.Current();
  status_ = current.status();
  if (!status_.ok() || *current == primary.handle()) return;
  status_ = driver_.PushCurrent(primary.handle());
  pushed_ = status_.ok();
}

CudaScope::~CudaScope() {
  if (pushed_) driver_.PopCurrent().IgnoreError();
}

}  // namespace onepass
