#include "runtime/device/cuda_driver.h"

#include <cuda.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/dynamic_library.h"

namespace onepass {

// Every driver since 12.0 has the first list; null is what an older one lacks of the second. The
// header's macros append the version to a name (cuMemAlloc is cuMemAlloc_v2), so that the very name
// is looked up whose prototype is used.
#define ONEPASS_REQUIRED_FUNCTIONS(F) \
  F(cuInit)                           \
  F(cuGetErrorName)                   \
  F(cuGetErrorString)                 \
  F(cuDeviceGetCount)                 \
  F(cuDeviceGet)                      \
  F(cuDeviceGetName)                  \
  F(cuDeviceTotalMem)                 \
  F(cuDeviceGetAttribute)             \
  F(cuDevicePrimaryCtxRetain)         \
  F(cuDevicePrimaryCtxRelease)        \
  F(cuCtxGetCurrent)                  \
  F(cuCtxPushCurrent)                 \
  F(cuCtxPopCurrent)                  \
  F(cuMemAlloc)                       \
  F(cuMemFree)                        \
  F(cuMemcpyHtoD)                     \
  F(cuMemcpyDtoH)                     \
  F(cuMemsetD8)                       \
  F(cuModuleLoadDataEx)               \
  F(cuModuleUnload)                   \
  F(cuModuleGetFunction)              \
  F(cuFuncGetAttribute)               \
  F(cuFuncSetAttribute)               \
  F(cuLaunchKernelEx)                 \
  F(cuStreamSynchronize)              \
  F(cuEventCreate)                    \
  F(cuEventDestroy)                   \
  F(cuEventRecord)                    \
  F(cuEventSynchronize)
#define ONEPASS_NEWER_FUNCTIONS(F) F(cuEventElapsedTime) F(cuFuncLoad) F(cuFuncGetParamInfo)

#define ONEPASS_DECLARE(name) decltype(::name)* name = nullptr;
#define ONEPASS_TEXT(name) #name
#define ONEPASS_FIND(name) name = library.Find<decltype(::name)>(ONEPASS_TEXT(name));
#define ONEPASS_IS_FOUND(name) &&name != nullptr

struct CudaDriver::Functions {
  ONEPASS_REQUIRED_FUNCTIONS(ONEPASS_DECLARE)
  ONEPASS_NEWER_FUNCTIONS(ONEPASS_DECLARE)

  // False where `library` is no driver, or one that is too old.
  bool FindIn(const DynamicLibrary& library) {
    ONEPASS_REQUIRED_FUNCTIONS(ONEPASS_FIND)
    ONEPASS_NEWER_FUNCTIONS(ONEPASS_FIND)
    // What the header calls _v2 had no suffix before 12.8, and the same prototype.
    if (cuEventElapsedTime == nullptr) {
      cuEventElapsedTime = library.Find<decltype(::cuEventElapsedTime)>("cuEventElapsedTime");
    }
    return cuEventElapsedTime != nullptr ONEPASS_REQUIRED_FUNCTIONS(ONEPASS_IS_FOUND);
  }
};

namespace {

absl::StatusCode CodeOf(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return absl::StatusCode::kResourceExhausted;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_NOT_FOUND:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
      return absl::StatusCode::kInvalidArgument;
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_LAUNCH_FAILED:
      return absl::StatusCode::kAborted;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kInternal;
  }
}

constexpr absl::string_view kWhatBringsADriver =
    "; it comes with NVIDIA's driver for a GPU (a container must be started with --gpus all); "
    "without one, --device sim:h200 simulates";

}  // namespace

CudaDriver::CudaDriver() = default;
CudaDriver::~CudaDriver() = default;

absl::StatusOr<std::shared_ptr<const CudaDriver>> CudaDriver::Load(const std::string& library) {
  absl::StatusOr<DynamicLibrary> found = DynamicLibrary::Open(library);
  if (!found.ok()) {
    return absl::UnavailableError(
        absl::StrCat("no CUDA driver: ", found.status().message(), kWhatBringsADriver));
  }
  auto functions = std::make_unique<Functions>();
  if (!functions->FindIn(*found)) {
    return absl::UnavailableError(absl::StrCat("no usable CUDA driver: ", found->path(),
                                               " is none, or older than CUDA 12.0"));
  }
  auto driver = std::shared_ptr<CudaDriver>(new CudaDriver);
  driver->f_ = std::move(functions);
  absl::Status started = driver->Translate(driver->f_->cuInit(0), "cuInit");
  if (!started.ok()) {
    return absl::UnavailableError(
        absl::StrCat("no usable CUDA driver or GPU: ", started.message(), kWhatBringsADriver));
  }
  return driver;
}

absl::Status CudaDriver::Translate(int result, absl::string_view call) const {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  CUresult code = static_cast<CUresult>(result);
  const char *name = nullptr, *text = nullptr;
  f_->cuGetErrorName(code, &name);
  f_->cuGetErrorString(code, &text);
  return absl::Status(CodeOf(code), absl::StrCat(call, ": ", name ? name : "unknown error", " (",
                                                 result, text ? "): " : ")", text ? text : ""));
}

template <typename T, typename Call>
absl::StatusOr<T> CudaDriver::Get(absl::string_view name, Call call) const {
  T value = {};
  absl::Status status = Translate(call(&value), name);
  if (!status.ok()) return status;
  return value;
}

absl::StatusOr<int> CudaDriver::DeviceCount() const {
  return Get<int>("cuDeviceGetCount", [&](int* count) { return f_->cuDeviceGetCount(count); });
}

absl::StatusOr<int> CudaDriver::DeviceAt(int ordinal) const {
  return Get<CUdevice>("cuDeviceGet",
                       [&](CUdevice* device) { return f_->cuDeviceGet(device, ordinal); });
}

absl::StatusOr<std::string> CudaDriver::DeviceName(int device) const {
  char name[256] = {};
  absl::Status status =
      Translate(f_->cuDeviceGetName(name, sizeof(name) - 1, device), "cuDeviceGetName");
  if (!status.ok()) return status;
  return std::string(name);
}

absl::StatusOr<int64_t> CudaDriver::DeviceMemory(int device) const {
  return Get<size_t>("cuDeviceTotalMem",
                     [&](size_t* bytes) { return f_->cuDeviceTotalMem(bytes, device); });
}

int CudaDriver::Attribute(int device, int attribute) const {
  int value = 0;
  CUresult result =
      f_->cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(attribute), device);
  return result == CUDA_SUCCESS ? value : 0;
}

absl::StatusOr<CUctx_st*> CudaDriver::RetainPrimary(int device) const {
  return Get<CUcontext>("cuDevicePrimaryCtxRetain", [&](CUcontext* context) {
    return f_->cuDevicePrimaryCtxRetain(context, device);
  });
}

absl::Status CudaDriver::ReleasePrimary(int device) const {
  return Translate(f_->cuDevicePrimaryCtxRelease(device), "cuDevicePrimaryCtxRelease");
}

absl::StatusOr<CUctx_st*> CudaDriver::Current() const {
  return Get<CUcontext>("cuCtxGetCurrent",
                        [&](CUcontext* context) { return f_->cuCtxGetCurrent(context); });
}

absl::Status CudaDriver::PushCurrent(CUctx_st* context) const {
  return Translate(f_->cuCtxPushCurrent(context), "cuCtxPushCurrent");
}

absl::Status CudaDriver::PopCurrent() const {
  CUcontext popped = nullptr;
  return Translate(f_->cuCtxPopCurrent(&popped), "cuCtxPopCurrent");
}

absl::StatusOr<uint64_t> CudaDriver::Allocate(int64_t bytes) const {
  return Get<CUdeviceptr>("cuMemAlloc", [&](CUdeviceptr* address) {
    return f_->cuMemAlloc(address, static_cast<size_t>(bytes));
  });
}

absl::Status CudaDriver::Free(uint64_t address) const {
  return Translate(f_->cuMemFree(address), "cuMemFree");
}

absl::Status CudaDriver::CopyIn(uint64_t to, const void* from, int64_t bytes) const {
  return Translate(f_->cuMemcpyHtoD(to, from, static_cast<size_t>(bytes)), "cuMemcpyHtoD");
}

absl::Status CudaDriver::CopyOut(void* to, uint64_t from, int64_t bytes) const {
  return Translate(f_->cuMemcpyDtoH(to, from, static_cast<size_t>(bytes)), "cuMemcpyDtoH");
}

absl::Status CudaDriver::Fill(uint64_t address, uint8_t byte, int64_t bytes) const {
  return Translate(f_->cuMemsetD8(address, byte, static_cast<size_t>(bytes)), "cuMemsetD8");
}

absl::StatusOr<CUmod_st*> CudaDriver::LoadModule(const void* image) const {
  char log[4096] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof(log) - 1)};
  absl::StatusOr<CUmod_st*> module = Get<CUmodule>("cuModuleLoadDataEx", [&](CUmodule* loaded) {
    return f_->cuModuleLoadDataEx(loaded, image, 2, options, values);
  });
  if (module.ok() || log[0] == '\0') return module;
  return absl::Status(module.status().code(), absl::StrCat(module.status().message(), "\n", log));
}

absl::Status CudaDriver::UnloadModule(CUmod_st* module) const {
  return Translate(f_->cuModuleUnload(module), "cuModuleUnload");
}

absl::StatusOr<CUfunc_st*> CudaDriver::Function(CUmod_st* module, const std::string& name) const {
  return Get<CUfunction>(absl::StrCat("cuModuleGetFunction of ", name), [&](CUfunction* function) {
    return f_->cuModuleGetFunction(function, module, name.c_str());
  });
}

absl::Status CudaDriver::LoadFunction(CUfunc_st* function) const {
  if (f_->cuFuncLoad == nullptr) return absl::OkStatus();
  return Translate(f_->cuFuncLoad(function), "cuFuncLoad");
}

absl::StatusOr<int> CudaDriver::StaticSharedBytes(CUfunc_st* function) const {
  return Get<int>("cuFuncGetAttribute", [&](int* bytes) {
    return f_->cuFuncGetAttribute(bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
  });
}

absl::Status CudaDriver::AllowSharedBytes(CUfunc_st* function, int64_t bytes) const {
  constexpr auto kAttribute = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  return Translate(f_->cuFuncSetAttribute(function, kAttribute, static_cast<int>(bytes)),
                   "cuFuncSetAttribute");
}

absl::Status CudaDriver::AllowLargeClusters(CUfunc_st* function) const {
  constexpr auto kAttribute = CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
  return Translate(f_->cuFuncSetAttribute(function, kAttribute, 1), "cuFuncSetAttribute");
}

absl::StatusOr<int64_t> CudaDriver::ParameterBytes(CUfunc_st* function) const {
  if (f_->cuFuncGetParamInfo == nullptr) return -1;
  size_t offset = 0, second_bytes = 0;
  absl::StatusOr<size_t> bytes = Get<size_t>("cuFuncGetParamInfo", [&](size_t* first_bytes) {
    return f_->cuFuncGetParamInfo(function, 0, &offset, first_bytes);
  });
  if (!bytes.ok()) return bytes.status();
  if (f_->cuFuncGetParamInfo(function, 1, &offset, &second_bytes) == CUDA_SUCCESS) {
    return absl::InvalidArgumentError("a kernel with more than one parameter");
  }
  return static_cast<int64_t>(*bytes);
}

absl::Status CudaDriver::Launch(CUfunc_st* function, const LaunchShape& shape, const void* argument,
                                CUstream_st* stream) const {
  CUlaunchAttribute attributes[2] = {};
  unsigned count = 0;
  if (shape.cluster != std::array<uint32_t, 3>{1, 1, 1}) {
    CUlaunchAttribute& cluster = attributes[count++];
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim = {shape.cluster[0], shape.cluster[1], shape.cluster[2]};
  }
  if (shape.cooperative) {
    CUlaunchAttribute& cooperative = attributes[count++];
    cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    cooperative.value.cooperative = 1;
  }
  CUlaunchConfig launch = {};
  launch.gridDimX = shape.grid[0];
  launch.gridDimY = shape.grid[1];
  launch.gridDimZ = shape.grid[2];
  launch.blockDimX = shape.block[0];
  launch.blockDimY = shape.block[1];
  launch.blockDimZ = shape.block[2];
  launch.sharedMemBytes = static_cast<unsigned>(shape.shared_bytes);
  launch.hStream = stream;
  launch.attrs = count == 0 ? nullptr : attributes;
  launch.numAttrs = count;
  void* parameters[] = {const_cast<void*>(argument)};
  return Translate(f_->cuLaunchKernelEx(&launch, function, parameters, nullptr),
                   "cuLaunchKernelEx");
}

absl::Status CudaDriver::Synchronize(CUstream_st* stream) const {
  return Translate(f_->cuStreamSynchronize(stream), "cuStreamSynchronize");
}

absl::StatusOr<CUevent_st*> CudaDriver::CreateEvent() const {
  return Get<CUevent>("cuEventCreate",
                      [&](CUevent* event) { return f_->cuEventCreate(event, CU_EVENT_DEFAULT); });
}

absl::Status CudaDriver::DestroyEvent(CUevent_st* event) const {
  return Translate(f_->cuEventDestroy(event), "cuEventDestroy");
}

absl::Status CudaDriver::Record(CUevent_st* event, CUstream_st* stream) const {
  return Translate(f_->cuEventRecord(event, stream), "cuEventRecord");
}

absl::Status CudaDriver::Await(CUevent_st* event) const {
  return Translate(f_->cuEventSynchronize(event), "cuEventSynchronize");
}

absl::StatusOr<double> CudaDriver::MicrosecondsBetween(CUevent_st* begin, CUevent_st* end) const {
  absl::StatusOr<float> milliseconds = Get<float>("cuEventElapsedTime", [&](float* elapsed) {
    return f_->cuEventElapsedTime(elapsed, begin, end);
  });
  if (!milliseconds.ok()) return milliseconds.status();
  return 1000.0 * *milliseconds;
}

}  // namespace onepass
