#include "runtime/device/cuda_device.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/device/cuda_module.h"
#include "runtime/device/cuda_spec.h"
#include "runtime/device/registry.h"

namespace onepass {
namespace {

// Streams are the driver's own handles, so that an embedding engine can pass its own.
CUstream_st* HandleOf(Stream stream) {
  return reinterpret_cast<CUstream_st*>(static_cast<uintptr_t>(stream));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> OpenCudaDevice(int ordinal, const DeviceOptions& options) {
  absl::StatusOr<std::shared_ptr<const CudaDriver>> driver = CudaDriver::Load(options.cuda_driver);
  if (!driver.ok()) return driver.status();
  return CudaDevice::Open(*std::move(driver), ordinal);
}

absl::StatusOr<std::unique_ptr<Device>> CudaDevice::Open(std::shared_ptr<const CudaDriver> driver,
                                                         int ordinal) {
  absl::StatusOr<int> count = driver->DeviceCount();
  if (!count.ok()) return count.status();
  if (ordinal < 0 || ordinal >= *count) {
    return absl::UnavailableError(
        absl::StrCat("there is no cuda:", ordinal, "; the driver sees ", *count, " GPU(s)"));
  }
  absl::StatusOr<int> device = driver->DeviceAt(ordinal);
  if (!device.ok()) return device.status();
  absl::StatusOr<DeviceSpec> spec = ReadCudaSpec(*driver, *device);
  if (!spec.ok()) return spec.status();
  auto primary = RetainedPrimary::Of(std::move(driver), *device);
  if (!primary.ok()) return primary.status();
  return std::unique_ptr<Device>(new CudaDevice(*std::move(primary), *std::move(spec), ordinal));
}

CudaDevice::CudaDevice(std::shared_ptr<const RetainedPrimary> primary, DeviceSpec spec, int ordinal)
    : primary_(std::move(primary)), spec_(std::move(spec)), name_(absl::StrCat("cuda:", ordinal)) {}

CudaDevice::~CudaDevice() {
  CudaScope scope(*primary_);
  if (!scope.status().ok()) return;
  for (CUevent_st* event : {begin_, end_}) {
    if (event != nullptr) driver().DestroyEvent(event).IgnoreError();
  }
  absl::MutexLock lock(&mutex_);
  for (const auto& [address, base] : allocations_) driver().Free(base).IgnoreError();
}

absl::StatusOr<DeviceAddress> CudaDevice::Allocate(const Allocation& allocation) {
  if (allocation.bytes < 0 || allocation.offset < 0) {
    return absl::InvalidArgumentError(absl::StrCat("an allocation of ", allocation.bytes,
                                                   " bytes at offset ", allocation.offset));
  }
  CudaScope scope(*primary_);
  if (!scope.status().ok()) return scope.status();
  // The driver has no empty allocations.
  const int64_t bytes = std::max<int64_t>(allocation.bytes, 1) + 2 * allocation.offset;
  absl::StatusOr<uint64_t> base = driver().Allocate(bytes);
  if (!base.ok()) {
    return absl::Status(base.status().code(), absl::StrCat(base.status().message(), ": ", bytes,
                                                           " bytes for ", allocation.label));
  }
  DeviceAddress address = *base;
  if (allocation.offset > 0) {
    const uint64_t period = 2 * static_cast<uint64_t>(allocation.offset);
    const uint64_t past = *base % period, wanted = period / 2;
    address += past <= wanted ? wanted - past : wanted + period - past;
  }
  absl::MutexLock lock(&mutex_);
  allocations_[address] = *base;
  return address;
}

absl::Status CudaDevice::Free(DeviceAddress address) {
  uint64_t base = 0;
  {
    absl::MutexLock lock(&mutex_);
    auto found = allocations_.find(address);
    if (found == allocations_.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no allocation at 0x", absl::Hex(address)));
    }
    base = found->second;
    allocations_.erase(found);
  }
  CudaScope scope(*primary_);
  if (!scope.status().ok()) return scope.status();
  return driver().Free(base);
}

absl::Status CudaDevice::CopyIn(DeviceAddress to, llvm::ArrayRef<uint8_t> from) {
  if (from.empty()) return absl::OkStatus();
  CudaScope scope(*primary_);
  if (!scope.status().ok()) return scope.status();
  absl::Status copied = driver().CopyIn(to, from.data(), static_cast<int64_t>(from.size()));
  if (!copied.ok()) return copied;
  // From pageable memory it returns when the bytes have left the host, not when they arrived.
  return driver().Synchronize(nullptr);
}

absl::Status CudaDevice::CopyOut(llvm::MutableArrayRef<uint8_t> to, DeviceAddress from) {
  if (to.empty()) return absl::OkStatus();
  CudaScope scope(*primary_);
  if (!scope.status().ok()) return scope.status();
  return driver().CopyOut(to.data(), from, static_cast<int64_t>(to.size()));
}

absl::Status CudaDevice::Fill(DeviceAddress address, uint8_t byte, int64_t bytes) {
  if (bytes < 0) return absl::InvalidArgumentError(absl::StrCat("a fill of ", bytes, " bytes"));
  if (bytes == 0) return absl::OkStatus();
  CudaScope scope(*primary_);
  if (!scope.status().ok()) return scope.status();
  absl::Status filled = driver().Fill(address, byte, bytes);
  if (!filled.ok()) return filled;
  return driver().Synchronize(nullptr);
}

absl::StatusOr<std::unique_ptr<LoadedModule>> CudaDevice::Load(
    const Binary& binary, llvm::ArrayRef<std::string> kernels) {
  absl::StatusOr<std::unique_ptr<CudaModule>> module =
      CudaModule::Load(primary_, spec_, binary, kernels);
  if (!module.ok()) return module.status();
  return *std::move(module);
}

absl::Status CudaDevice::Launch(const KernelLaunch& launch, Stream stream) {
  const auto& kernels = static_cast<const CudaModule&>(*launch.module).kernels();
  const size_t index = static_cast<size_t>(launch.shape.kernel);
  if (index >= kernels.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", launch.shape.kernel, " of ", kernels.size(), " was launched"));
  }
  const CudaModule::Kernel& kernel = kernels[index];
  const int64_t given = static_cast<int64_t>(launch.arguments.size());
  if (kernel.argument_bytes >= 0 && given != kernel.argument_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(kernel.name, " takes ", kernel.argument_bytes,
                                                   " bytes of arguments, not ", given));
  }
  CudaScope scope(*primary_);
  if (!scope.status().ok()) return scope.status();
  return driver().Launch(kernel.function, launch.shape, launch.arguments.data(), HandleOf(stream));
}

absl::Status CudaDevice::Synchronize(Stream stream) {
  CudaScope scope(*primary_);
  if (!scope.status().ok()) return scope.status();
  return driver().Synchronize(HandleOf(stream));
}

absl::Status CudaDevice::BeginMeasure(Stream stream) {
  CudaScope scope(*primary_);
  if (!scope.status().ok()) return scope.status();
  for (CUevent_st** event : {&begin_, &end_}) {
    if (*event != nullptr) continue;
    absl::StatusOr<CUevent_st*> made = driver().CreateEvent();
    if (!made.ok()) return made.status();
    *event = *made;
  }
  return driver().Record(begin_, HandleOf(stream));
}

absl::StatusOr<Measurement> CudaDevice::EndMeasure(Stream stream) {
  if (end_ == nullptr) return absl::FailedPreconditionError("no measurement was begun");
  CudaScope scope(*primary_);
  if (!scope.status().ok()) return scope.status();
  if (absl::Status recorded = driver().Record(end_, HandleOf(stream)); !recorded.ok()) {
    return recorded;
  }
  if (absl::Status ended = driver().Await(end_); !ended.ok()) return ended;
  absl::StatusOr<double> microseconds = driver().MicrosecondsBetween(begin_, end_);
  if (!microseconds.ok()) return microseconds.status();
  Measurement measurement;
  measurement.microseconds = *microseconds;
  return measurement;
}

}  // namespace onepass
