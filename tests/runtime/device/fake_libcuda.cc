// The driver's functions. Types and numbers are spelled from the driver's documentation, not from
// its header, so that what runtime/ took from there is checked against something else.
#include "tests/runtime/device/fake_libcuda.h"

#include <algorithm>
#include <cstring>
#include <sstream>

using onepass::FakeCuda;
using onepass::FakeFunction;
using onepass::FakeKernel;
using onepass::FakeLaunch;
using onepass::FakeModule;

extern "C" FakeCuda* FakeCudaState() {
  static FakeCuda* state = new FakeCuda;
  return state;
}

namespace {

constexpr int kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNotInitialized = 3,
              kNoDevice = 100, kInvalidDevice = 101, kInvalidImage = 200, kInvalidContext = 201,
              kNoBinaryForGpu = 209, kInvalidHandle = 400, kNotFound = 500;

// Device handles are not ordinals, so that mixing them up shows.
constexpr int kFirstDevice = 100;

constexpr int kSharedSizeBytes = 1, kMaxDynamicShared = 8, kNonPortableClusters = 14;
constexpr uint32_t kCooperative = 2, kClusterDimension = 4;

struct LaunchAttribute {
  uint32_t id;
  uint32_t padding;
  union {
    uint8_t bytes[64];
    int32_t cooperative;
    uint32_t cluster[3];
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfiguration {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared_bytes;
  void* stream;
  const LaunchAttribute* attributes;
  uint32_t attribute_count;
};

thread_local std::vector<const void*> current_contexts;

// The context of a device is the address of its element here.
char context_of_device[16];

enum class Needs { kNothing, kStart, kContext };

// One call: recorded when it begins; wrong arguments are complained about.
class Call {
 public:
  Call(const char* name, Needs needs) : name_(name), lock_(cuda().mutex) {
    cuda().calls.push_back(name);
    if (auto failure = cuda().failures.find(name); failure != cuda().failures.end()) {
      result_ = failure->second;
    } else if (needs != Needs::kNothing && !cuda().started) {
      Refuse(kNotInitialized, "before cuInit");
    } else if (needs == Needs::kContext && current_contexts.empty()) {
      Refuse(kInvalidContext, "no current context");
    }
  }

  FakeCuda& cuda() { return *FakeCudaState(); }

  // False, and a complaint, unless `holds`.
  bool Check(bool holds, int code, const std::string& complaint) {
    if (result_ == kSuccess && !holds) Refuse(code, complaint);
    return ok();
  }
  bool ok() const { return result_ == kSuccess; }
  int result() const { return result_; }

  const onepass::FakeGpu& gpu() {
    return cuda().gpus[static_cast<const char*>(current_contexts.back()) - context_of_device];
  }

 private:
  void Refuse(int code, const std::string& complaint) {
    cuda().complaints.push_back(std::string(name_) + ": " + complaint);
    result_ = code;
  }

  const char* name_;
  std::lock_guard<std::mutex> lock_;
  int result_ = kSuccess;
};

bool IsDevice(Call& call, int device) {
  return call.Check(
      device >= kFirstDevice && device < kFirstDevice + static_cast<int>(call.cuda().gpus.size()),
      kInvalidDevice, "no device handle");
}

// The kernels of a fake image, or the code that refuses it.
int ParseImage(const char* image, int compute, FakeModule& module) {
  std::string text;
  if (std::memcmp(image,
                  "\x7f"
                  "FAKE",
                  5) == 0) {
    const auto* size = reinterpret_cast<const uint8_t*>(image) + 5;
    text.assign(image + 7, size[0] + 256u * size[1]);
    if (text.find("sm " + std::to_string(compute) + "\n") != 0) return kNoBinaryForGpu;
  } else if (std::memcmp(image, ".version", 8) == 0) {
    text = image;
  } else {
    return kInvalidImage;
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    size_t at = line.find("kernel ");
    if (at == std::string::npos) continue;
    std::istringstream words(line.substr(at + 7));
    FakeKernel kernel;
    words >> kernel.name >> kernel.argument_bytes >> kernel.static_shared_bytes >>
        kernel.max_threads;
    for (int offset; words >> offset;) kernel.pointer_offsets.push_back(offset);
    module.functions[kernel.name].kernel = kernel;
  }
  return kSuccess;
}

// The launch as asked for; complains about what is no launch at all.
FakeLaunch Describe(Call& call, const LaunchConfiguration& launch, const FakeFunction& function,
                    void** parameters) {
  FakeLaunch seen;
  seen.kernel = function.kernel.name;
  std::copy_n(launch.grid, 3, seen.grid.begin());
  std::copy_n(launch.block, 3, seen.block.begin());
  seen.shared_bytes = launch.shared_bytes;
  seen.stream = reinterpret_cast<uintptr_t>(launch.stream);
  for (uint32_t i = 0; i < launch.attribute_count; ++i) {
    const LaunchAttribute& attribute = launch.attributes[i];
    if (attribute.id == kClusterDimension) {
      std::copy_n(attribute.value.cluster, 3, seen.cluster.begin());
    } else if (attribute.id == kCooperative) {
      seen.cooperative = attribute.value.cooperative != 0;
    } else {
      call.Check(false, kInvalidValue, "unknown attribute");
    }
  }
  if (call.Check(parameters != nullptr && parameters[0] != nullptr, kInvalidValue,
                 "no parameters")) {
    const auto* bytes = static_cast<const uint8_t*>(parameters[0]);
    seen.argument.assign(bytes, bytes + function.kernel.argument_bytes);
  }
  return seen;
}

}  // namespace

extern "C" {

int cuInit(unsigned flags) {
  Call call("cuInit", Needs::kNothing);
  call.Check(flags == 0, kInvalidValue, "flags");
  if (call.ok() && call.cuda().gpus.empty()) return kNoDevice;
  call.cuda().started = call.cuda().started || call.ok();
  return call.result();
}

int cuGetErrorName(int error, const char** name) {
  static const std::map<int, const char*> names = {{kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
                                                   {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                   {kNoDevice, "CUDA_ERROR_NO_DEVICE"},
                                                   {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
  auto found = names.find(error);
  *name = found == names.end() ? nullptr : found->second;
  return found == names.end() ? kInvalidValue : kSuccess;
}

int cuGetErrorString(int error, const char** text) {
  *text = error == kOutOfMemory ? "out of memory" : nullptr;
  return *text == nullptr ? kInvalidValue : kSuccess;
}

int cuDeviceGetCount(int* count) {
  Call call("cuDeviceGetCount", Needs::kStart);
  if (call.ok()) *count = static_cast<int>(call.cuda().gpus.size());
  return call.result();
}

int cuDeviceGet(int* device, int ordinal) {
  Call call("cuDeviceGet", Needs::kStart);
  if (IsDevice(call, kFirstDevice + ordinal)) *device = kFirstDevice + ordinal;
  return call.result();
}

int cuDeviceGetName(char* name, int size, int device) {
  Call call("cuDeviceGetName", Needs::kStart);
  if (IsDevice(call, device)) {
    std::strncpy(name, call.cuda().gpus[device - kFirstDevice].name.c_str(), size);
  }
  return call.result();
}

int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  Call call("cuDeviceTotalMem", Needs::kStart);
  if (IsDevice(call, device)) *bytes = call.cuda().gpus[device - kFirstDevice].memory;
  return call.result();
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  Call call("cuDeviceGetAttribute", Needs::kStart);
  if (!IsDevice(call, device)) return call.result();
  const auto& attributes = call.cuda().gpus[device - kFirstDevice].attributes;
  auto found = attributes.find(attribute);
  if (found == attributes.end()) return kInvalidValue;
  *value = found->second;
  return kSuccess;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  Call call("cuDevicePrimaryCtxRetain", Needs::kStart);
  if (!IsDevice(call, device)) return call.result();
  *context = &context_of_device[device - kFirstDevice];
  ++call.cuda().contexts[*context];
  return kSuccess;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  Call call("cuDevicePrimaryCtxRelease", Needs::kStart);
  if (!IsDevice(call, device)) return call.result();
  int& retained = call.cuda().contexts[&context_of_device[device - kFirstDevice]];
  if (call.Check(retained > 0, kInvalidContext, "not retained")) --retained;
  return call.result();
}

int cuCtxGetCurrent(void** context) {
  Call call("cuCtxGetCurrent", Needs::kStart);
  *context = current_contexts.empty() ? nullptr : const_cast<void*>(current_contexts.back());
  return call.result();
}

int cuCtxPushCurrent_v2(void* context) {
  Call call("cuCtxPushCurrent", Needs::kStart);
  auto found = call.cuda().contexts.find(context);
  if (call.Check(found != call.cuda().contexts.end() && found->second > 0, kInvalidContext,
                 "not retained")) {
    current_contexts.push_back(context);
  }
  return call.result();
}

int cuCtxPopCurrent_v2(void** context) {
  Call call("cuCtxPopCurrent", Needs::kContext);
  if (!call.ok()) return call.result();
  *context = const_cast<void*>(current_contexts.back());
  current_contexts.pop_back();
  return kSuccess;
}

int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  Call call("cuMemAlloc", Needs::kContext);
  if (!call.Check(bytes > 0, kInvalidValue, "no bytes")) return call.result();
  if (bytes > static_cast<size_t>(call.gpu().memory)) return kOutOfMemory;
  *address = call.cuda().next_address;
  // A gap, so that what runs over the end of one is in no other.
  call.cuda().next_address += (bytes + 511) / 512 * 512 + 512;
  call.cuda().allocations[*address].resize(bytes, 0xcd);
  return kSuccess;
}

int cuMemFree_v2(uint64_t address) {
  Call call("cuMemFree", Needs::kContext);
  if (call.Check(call.cuda().allocations.count(address) == 1, kInvalidValue, "no allocation")) {
    call.cuda().allocations.erase(address);
  }
  return call.result();
}

int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  Call call("cuMemcpyHtoD", Needs::kContext);
  uint8_t* there = call.cuda().At(to, bytes);
  call.Check(there != nullptr, kInvalidValue, "outside of allocations");
  if (call.Check(from != nullptr, kInvalidValue, "from nowhere")) std::memcpy(there, from, bytes);
  return call.result();
}

int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  Call call("cuMemcpyDtoH", Needs::kContext);
  const uint8_t* there = call.cuda().At(from, bytes);
  call.Check(there != nullptr, kInvalidValue, "outside of allocations");
  if (call.Check(to != nullptr, kInvalidValue, "to nowhere")) std::memcpy(to, there, bytes);
  return call.result();
}

int cuMemsetD8_v2(uint64_t address, unsigned char byte, size_t bytes) {
  Call call("cuMemsetD8", Needs::kContext);
  uint8_t* there = call.cuda().At(address, bytes);
  if (call.Check(there != nullptr, kInvalidValue, "outside of allocations")) {
    std::memset(there, byte, bytes);
  }
  return call.result();
}

int cuModuleLoadDataEx(void** module, const void* image, unsigned count, const int* options,
                       void** values) {
  Call call("cuModuleLoadDataEx", Needs::kContext);
  if (!call.Check(image != nullptr, kInvalidValue, "no image")) return call.result();
  FakeModule loaded;
  int parsed = ParseImage(static_cast<const char*>(image), call.gpu().compute(), loaded);
  for (unsigned i = 0; i < count && parsed == kInvalidImage; ++i) {
    constexpr int kErrorLogBuffer = 5;
    if (options[i] == kErrorLogBuffer) std::strcpy(static_cast<char*>(values[i]), "what is this?");
  }
  if (parsed != kSuccess) return parsed;
  // Any address that no other module has.
  *module = new char;
  call.cuda().modules[*module] = std::move(loaded);
  return kSuccess;
}

int cuModuleUnload(void* module) {
  Call call("cuModuleUnload", Needs::kContext);
  if (call.Check(call.cuda().modules.count(module) == 1, kInvalidHandle, "no module")) {
    call.cuda().modules.erase(module);
    delete static_cast<char*>(module);
  }
  return call.result();
}

int cuModuleGetFunction(void** function, void* module, const char* name) {
  Call call("cuModuleGetFunction", Needs::kContext);
  auto found = call.cuda().modules.find(module);
  if (!call.Check(found != call.cuda().modules.end(), kInvalidHandle, "no module")) {
    return call.result();
  }
  auto named = found->second.functions.find(name);
  if (named == found->second.functions.end()) return kNotFound;
  *function = &named->second;
  return kSuccess;
}

int cuFuncLoad(void* handle) {
  Call call("cuFuncLoad", Needs::kContext);
  FakeFunction* function = call.cuda().FindFunction(handle);
  if (call.Check(function != nullptr, kInvalidHandle, "no function")) function->loaded = true;
  return call.result();
}

int cuFuncGetAttribute(int* value, int attribute, void* handle) {
  Call call("cuFuncGetAttribute", Needs::kContext);
  FakeFunction* function = call.cuda().FindFunction(handle);
  call.Check(function != nullptr, kInvalidHandle, "no function");
  if (call.Check(attribute == kSharedSizeBytes, kInvalidValue, "unexpected attribute")) {
    *value = function->kernel.static_shared_bytes;
  }
  return call.result();
}

int cuFuncSetAttribute(void* handle, int attribute, int value) {
  Call call("cuFuncSetAttribute", Needs::kContext);
  FakeFunction* function = call.cuda().FindFunction(handle);
  if (!call.Check(function != nullptr, kInvalidHandle, "no function")) return call.result();
  if (attribute == kMaxDynamicShared) {
    constexpr int kSharedOptIn = 97;
    int most = call.gpu().Attribute(kSharedOptIn) - function->kernel.static_shared_bytes;
    if (call.Check(value >= 0 && value <= most, kInvalidValue, "more than the chip has")) {
      function->allowed_shared_bytes = value;
    }
  } else if (attribute == kNonPortableClusters) {
    if (call.Check(call.gpu().compute() >= 90, kInvalidValue, "clusters before sm_90")) {
      function->large_clusters = value != 0;
    }
  } else {
    call.Check(false, kInvalidValue, "unexpected attribute");
  }
  return call.result();
}

int cuFuncGetParamInfo(void* handle, size_t index, size_t* offset, size_t* bytes) {
  Call call("cuFuncGetParamInfo", Needs::kContext);
  FakeFunction* function = call.cuda().FindFunction(handle);
  if (!call.Check(function != nullptr, kInvalidHandle, "no function")) return call.result();
  if (index > 0) return kInvalidValue;
  *offset = 0;
  *bytes = static_cast<size_t>(function->kernel.argument_bytes);
  return kSuccess;
}

int cuLaunchKernelEx(const LaunchConfiguration* launch, void* handle, void** parameters,
                     void** extra) {
  Call call("cuLaunchKernelEx", Needs::kContext);
  FakeFunction* function = call.cuda().FindFunction(handle);
  call.Check(function != nullptr, kInvalidHandle, "no function");
  call.Check(extra == nullptr, kInvalidValue, "two kinds of parameters");
  call.Check(call.cuda().KnowsStream(launch->stream), kInvalidHandle, "no stream");
  if (!call.ok()) return call.result();
  call.Check(function->loaded, kInvalidHandle, "code that would be loaded by its first launch");
  FakeLaunch seen = Describe(call, *launch, *function, parameters);
  if (!call.ok()) return call.result();
  FakeCuda::Refusal refusal = call.cuda().RefusalOf(seen, *function, call.gpu());
  if (call.Check(refusal.code == kSuccess, refusal.code, refusal.reason)) {
    call.cuda().launches.push_back(seen);
  }
  return call.result();
}

int cuStreamSynchronize(void* stream) {
  Call call("cuStreamSynchronize", Needs::kContext);
  call.Check(call.cuda().KnowsStream(stream), kInvalidHandle, "no stream");
  return call.result();
}

int cuEventCreate(void** event, unsigned flags) {
  Call call("cuEventCreate", Needs::kContext);
  if (!call.Check(flags == 0, kInvalidValue, "an event without a time")) return call.result();
  *event = new char;
  call.cuda().events[*event] = 0;
  return kSuccess;
}

int cuEventDestroy_v2(void* event) {
  Call call("cuEventDestroy", Needs::kContext);
  if (call.Check(call.cuda().events.erase(event) == 1, kInvalidHandle, "no event")) {
    delete static_cast<char*>(event);
  }
  return call.result();
}

int cuEventRecord(void* event, void* stream) {
  Call call("cuEventRecord", Needs::kContext);
  call.Check(call.cuda().KnowsStream(stream), kInvalidHandle, "no stream");
  if (call.Check(call.cuda().events.count(event) == 1, kInvalidHandle, "no event")) {
    call.cuda().events[event] = call.cuda().launches.size();
  }
  return call.result();
}

int cuEventSynchronize(void* event) {
  Call call("cuEventSynchronize", Needs::kContext);
  call.Check(call.cuda().events.count(event) == 1, kInvalidHandle, "no event");
  return call.result();
}

int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  Call call("cuEventElapsedTime", Needs::kContext);
  auto& events = call.cuda().events;
  if (call.Check(events.count(begin) == 1 && events.count(end) == 1, kInvalidHandle, "no event")) {
    *milliseconds = static_cast<float>(call.cuda().launch_us * 1e-3 *
                                       static_cast<double>(events[end] - events[begin]));
  }
  return call.result();
}

}  // extern "C"
