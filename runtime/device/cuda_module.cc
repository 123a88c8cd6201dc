#include "runtime/device/cuda_module.h"

#include <utility>

#include "absl/status/status.h"

namespace onepass {
namespace {

absl::StatusOr<CUmod_st*> LoadImage(const CudaDriver& driver, const Binary& binary) {
  absl::Status refused = absl::InvalidArgumentError("a binary without machine code and PTX");
  if (!binary.cubin.empty()) {
    absl::StatusOr<CUmod_st*> module = driver.LoadModule(binary.cubin.data());
    // The PTX would not find more memory or another GPU.
    bool final = module.ok() || absl::IsResourceExhausted(module.status()) ||
                 absl::IsUnavailable(module.status()) || absl::IsAborted(module.status());
    if (final || binary.ptx.empty()) return module;
    refused = module.status();
  }
  if (binary.ptx.empty()) return refused;
  return driver.LoadModule(binary.ptx.c_str());
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaModule>> CudaModule::Load(
    const std::shared_ptr<const RetainedPrimary>& primary, const DeviceSpec& spec,
    const Binary& binary, llvm::ArrayRef<std::string> kernels) {
  CudaScope scope(*primary);
  if (!scope.status().ok()) return scope.status();
  absl::StatusOr<CUmod_st*> handle = LoadImage(primary->driver(), binary);
  if (!handle.ok()) return handle.status();
  auto module = std::unique_ptr<CudaModule>(new CudaModule(primary, *handle));
  for (const std::string& kernel : kernels) {
    if (absl::Status ready = module->Prepare(spec, kernel); !ready.ok()) return ready;
  }
  return module;
}

CudaModule::CudaModule(std::shared_ptr<const RetainedPrimary> primary, CUmod_st* handle)
    : primary_(std::move(primary)), handle_(handle) {}

CudaModule::~CudaModule() {
  CudaScope scope(*primary_);
  if (scope.status().ok()) primary_->driver().UnloadModule(handle_).IgnoreError();
}

absl::Status CudaModule::Prepare(const DeviceSpec& spec, const std::string& name) {
  const CudaDriver& driver = primary_->driver();
  absl::StatusOr<CUfunc_st*> function = driver.Function(handle_, name);
  if (!function.ok()) return function.status();
  if (absl::Status loaded = driver.LoadFunction(*function); !loaded.ok()) return loaded;
  absl::StatusOr<int64_t> argument_bytes = driver.ParameterBytes(*function);
  if (!argument_bytes.ok()) return argument_bytes.status();
  absl::StatusOr<int> static_bytes = driver.StaticSharedBytes(*function);
  if (!static_bytes.ok()) return static_bytes.status();
  absl::Status shared =
      driver.AllowSharedBytes(*function, spec.shared_bytes_per_block - *static_bytes);
  if (!shared.ok()) return shared;
  if (spec.compute >= 90) {
    if (absl::Status large = driver.AllowLargeClusters(*function); !large.ok()) return large;
  }
  kernels_.push_back({.name = name, .function = *function, .argument_bytes = *argument_bytes});
  return absl::OkStatus();
}

}  // namespace onepass
