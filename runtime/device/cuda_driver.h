// CudaDriver: the functions of NVIDIA's driver that a Device needs, loaded while the program runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "codegen/plan.h"

// The driver's own opaque types; its header stays out of headers.
struct CUctx_st;
struct CUevent_st;
struct CUfunc_st;
struct CUmod_st;
struct CUstream_st;

namespace onepass {

// One method a driver call, thread safe as these are. Errors carry the name of the call and the
// driver's words for what went wrong:
//   RESOURCE_EXHAUSTED  too little memory
//   INVALID_ARGUMENT    a value, handle or launch that the driver refuses
//   ABORTED             a kernel faulted; every later call on its context fails likewise
//   UNAVAILABLE         no GPU, or a driver that cannot be used
//   INTERNAL            anything else
// Methods from Allocate on work on the calling thread's current context (see cuda_primary.h).
class CudaDriver {
 public:
  // `library` is a path or a name for the loader. UNAVAILABLE where there is no driver or no GPU,
  // with what would bring it.
  static absl::StatusOr<std::shared_ptr<const CudaDriver>> Load(const std::string& library);
  ~CudaDriver();

  absl::StatusOr<int> DeviceCount() const;
  // The driver's handle of a device, which the methods below take.
  absl::StatusOr<int> DeviceAt(int ordinal) const;
  absl::StatusOr<std::string> DeviceName(int device) const;
  absl::StatusOr<int64_t> DeviceMemory(int device) const;
  // `attribute` is a CUdevice_attribute. 0 for one that the driver does not know.
  int Attribute(int device, int attribute) const;

  absl::StatusOr<CUctx_st*> RetainPrimary(int device) const;
  absl::Status ReleasePrimary(int device) const;
  absl::StatusOr<CUctx_st*> Current() const;
  absl::Status PushCurrent(CUctx_st* context) const;
  absl::Status PopCurrent() const;

  absl::StatusOr<uint64_t> Allocate(int64_t bytes) const;
  absl::Status Free(uint64_t address) const;
  absl::Status CopyIn(uint64_t to, const void* from, int64_t bytes) const;
  absl::Status CopyOut(void* to, uint64_t from, int64_t bytes) const;
  absl::Status Fill(uint64_t address, uint8_t byte, int64_t bytes) const;

  // `image` is a cubin, or PTX with a terminating zero. The error has the driver's compiler's log.
  absl::StatusOr<CUmod_st*> LoadModule(const void* image) const;
  absl::Status UnloadModule(CUmod_st* module) const;
  absl::StatusOr<CUfunc_st*> Function(CUmod_st* module, const std::string& name) const;
  // Brings the function's code to the device now instead of at its first launch.
  absl::Status LoadFunction(CUfunc_st* function) const;
  absl::StatusOr<int> StaticSharedBytes(CUfunc_st* function) const;
  absl::Status AllowSharedBytes(CUfunc_st* function, int64_t bytes) const;
  absl::Status AllowLargeClusters(CUfunc_st* function) const;
  // Bytes of the function's only parameter, or -1 where the driver is too old to tell (before
  // 12.4). INVALID_ARGUMENT for a function with another number of parameters.
  absl::StatusOr<int64_t> ParameterBytes(CUfunc_st* function) const;
  // `argument` points to the only parameter's value, which is copied.
  absl::Status Launch(CUfunc_st* function, const LaunchShape& shape, const void* argument,
                      CUstream_st* stream) const;
  absl::Status Synchronize(CUstream_st* stream) const;

  absl::StatusOr<CUevent_st*> CreateEvent() const;
  absl::Status DestroyEvent(CUevent_st* event) const;
  absl::Status Record(CUevent_st* event, CUstream_st* stream) const;
  absl::Status Await(CUevent_st* event) const;
  absl::StatusOr<double> MicrosecondsBetween(CUevent_st* begin, CUevent_st* end) const;

 private:
  struct Functions;

  CudaDriver();
  // The one place that translates the driver's results; `result` is a CUresult.
  absl::Status Translate(int result, absl::string_view call) const;
  // What `call(&value)`, which the driver knows by `name`, put into value.
  template <typename T, typename Call>
  absl::StatusOr<T> Get(absl::string_view name, Call call) const;

  std::unique_ptr<const Functions> f_;
};

}  // namespace onepass
