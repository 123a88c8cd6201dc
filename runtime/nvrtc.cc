#include "runtime/nvrtc.h"

#include <nvrtc.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/cubin.h"
#include "runtime/dynamic_library.h"
#include "runtime/nvrtc_candidates.h"

namespace onepass {

struct Nvrtc::Functions {
  decltype(nvrtcVersion)* version;
  decltype(nvrtcGetErrorString)* error_string;
  decltype(nvrtcGetNumSupportedArchs)* arch_count;
  decltype(nvrtcGetSupportedArchs)* archs;
  decltype(nvrtcCreateProgram)* create;
  decltype(nvrtcDestroyProgram)* destroy;
  decltype(nvrtcCompileProgram)* compile;
  decltype(nvrtcGetProgramLogSize)* log_size;
  decltype(nvrtcGetProgramLog)* log;
  decltype(nvrtcGetPTXSize)* ptx_size;
  decltype(nvrtcGetPTX)* ptx;
  decltype(nvrtcGetCUBINSize)* cubin_size;
  decltype(nvrtcGetCUBIN)* cubin;

  // False where the library lacks one of them.
  bool FindIn(const DynamicLibrary& library) {
    bool complete = true;
    auto find = [&]<typename F>(const char* name, F*& function) {
      function = library.Find<F>(name);
      complete = complete && function != nullptr;
    };
    find("nvrtcVersion", version);
    find("nvrtcGetErrorString", error_string);
    find("nvrtcGetNumSupportedArchs", arch_count);
    find("nvrtcGetSupportedArchs", archs);
    find("nvrtcCreateProgram", create);
    find("nvrtcDestroyProgram", destroy);
    find("nvrtcCompileProgram", compile);
    find("nvrtcGetProgramLogSize", log_size);
    find("nvrtcGetProgramLog", log);
    find("nvrtcGetPTXSize", ptx_size);
    find("nvrtcGetPTX", ptx);
    find("nvrtcGetCUBINSize", cubin_size);
    find("nvrtcGetCUBIN", cubin);
    return complete;
  }

  // The one place that translates NVRTC's results.
  absl::Status ErrorOf(nvrtcResult result, absl::string_view call) const {
    if (result == NVRTC_SUCCESS) return absl::OkStatus();
    return absl::InternalError(absl::StrCat(call, ": ", error_string(result)));
  }
};

namespace {

// NVRTC looks for its built-in functions by name only. Loading them from beside it makes a toolkit
// complete that the loader does not know, as that of wheels.
void LoadBuiltins(const std::string& nvrtc_path, int major, int minor) {
  std::filesystem::path folder = std::filesystem::path(nvrtc_path).parent_path();
  DynamicLibrary::Open(absl::StrCat(folder.string(), "/libnvrtc-builtins.so.", major, ".", minor))
      .IgnoreError();
}

// 90 of "sm_90", "compute_90" or "sm_90a"; 0 where it is none of them.
int CapabilityOf(absl::string_view arch) {
  if (!absl::ConsumePrefix(&arch, "sm_") && !absl::ConsumePrefix(&arch, "compute_")) return 0;
  if (!arch.empty() && absl::ascii_islower(arch.back())) arch.remove_suffix(1);
  int capability = 0;
  return absl::SimpleAtoi(arch, &capability) && capability > 0 ? capability : 0;
}

absl::Status CompileError(absl::string_view kernel, absl::string_view log) {
  absl::string_view first = "NVRTC gave no reason";
  for (absl::string_view line : absl::StrSplit(log, '\n')) {
    if (!absl::StrContains(line, "error")) continue;
    first = line;
    break;
  }
  return absl::AbortedError(absl::StrCat(kernel, " does not compile: ", first, "\n", log));
}

absl::Status NotFound(const std::vector<std::string>& tried) {
  return absl::UnavailableError(absl::StrCat(
      "no usable NVRTC; install NVIDIA's CUDA toolkit 12.9 or newer and set CUDA_HOME to it, or "
      "run './dev build' in the checkout, which fetches NVIDIA's wheels; tried ",
      absl::StrJoin(tried, "; ")));
}

}  // namespace

Nvrtc::Nvrtc() = default;
Nvrtc::~Nvrtc() = default;

absl::StatusOr<std::shared_ptr<Nvrtc>> Nvrtc::Load(const ToolkitPaths& paths) {
  return LoadFirstOf(NvrtcCandidates(paths));
}

absl::StatusOr<std::shared_ptr<Nvrtc>> Nvrtc::LoadFirstOf(llvm::ArrayRef<std::string> candidates) {
  std::vector<std::string> tried;
  for (const std::string& candidate : candidates) {
    absl::StatusOr<std::shared_ptr<Nvrtc>> nvrtc = LoadFrom(candidate);
    if (nvrtc.ok()) return nvrtc;
    tried.push_back(absl::StrCat(candidate, " (", nvrtc.status().message(), ")"));
  }
  return NotFound(tried);
}

absl::StatusOr<std::shared_ptr<Nvrtc>> Nvrtc::LoadFrom(const std::string& candidate) {
  absl::StatusOr<DynamicLibrary> library = DynamicLibrary::Open(candidate);
  if (!library.ok()) return library.status();
  Functions f;
  if (!f.FindIn(*library)) return absl::UnavailableError("it lacks functions of NVRTC");
  int major = 0, minor = 0, archs = 0;
  if (f.version(&major, &minor) != NVRTC_SUCCESS || 10 * major + minor < kOldestVersion) {
    return absl::UnavailableError(absl::StrCat("version ", major, ".", minor, " is too old"));
  }
  auto nvrtc = std::shared_ptr<Nvrtc>(new Nvrtc);
  absl::Status counted = f.ErrorOf(f.arch_count(&archs), "nvrtcGetNumSupportedArchs");
  if (!counted.ok()) return counted;
  nvrtc->archs_.resize(static_cast<size_t>(archs));
  absl::Status listed = f.ErrorOf(f.archs(nvrtc->archs_.data()), "nvrtcGetSupportedArchs");
  if (!listed.ok()) return listed;
  std::sort(nvrtc->archs_.begin(), nvrtc->archs_.end());
  LoadBuiltins(library->path(), major, minor);
  nvrtc->functions_ = std::make_unique<Functions>(f);
  nvrtc->path_ = library->path();
  nvrtc->version_ = absl::StrCat(major, ".", minor, " ", library->BuildId());
  return nvrtc;
}

std::vector<std::string> Nvrtc::Options(absl::string_view arch) {
  return {
      absl::StrCat("--gpu-architecture=", arch),
      "-std=c++17",    // nvcc's default: the same source compiles with both
      "--fmad=false",  // every fused multiply-add is written as one
      "--no-cache",    // NVRTC's own cache returns an empty log on a hit
      "--minimal",     // 5 ms less; the same PTX
      // True by default, and then the stack limit of the whole process changes.
      "--modify-stack-limit=false",
      "--ptxas-options=-v",
  };
}

absl::StatusOr<std::string> Nvrtc::TargetFor(absl::string_view arch) const {
  int capability = CapabilityOf(arch);
  if (capability == 0) {
    return absl::InvalidArgumentError(absl::StrCat("'", arch, "' is not an arch such as sm_90"));
  }
  if (std::binary_search(archs_.begin(), archs_.end(), capability)) return std::string(arch);
  auto newer = std::upper_bound(archs_.begin(), archs_.end(), capability);
  if (newer == archs_.begin()) {
    return absl::UnimplementedError(absl::StrCat("NVRTC ", version_, " does not compile for ", arch,
                                                 "; the oldest it knows is sm_",
                                                 archs_.empty() ? 0 : archs_.front()));
  }
  return absl::StrCat("compute_", *std::prev(newer));
}

// One compilation; destroys itself.
class Nvrtc::Program {
 public:
  explicit Program(const Functions& functions) : f_(functions) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (program_ != nullptr) f_.destroy(&program_);
  }

  // Errors are Compile's.
  absl::Status Compile(const Source& source, const std::vector<std::string>& options) {
    const std::string& kernel = source.kernels.front();
    const std::string file = absl::StrCat(kernel, ".cu");
    nvrtcResult created =
        f_.create(&program_, source.text.c_str(), file.c_str(), 0, nullptr, nullptr);
    if (created != NVRTC_SUCCESS) return f_.ErrorOf(created, "nvrtcCreateProgram");
    std::vector<const char*> words;
    words.reserve(options.size());
    for (const std::string& option : options) words.push_back(option.c_str());
    nvrtcResult compiled = f_.compile(program_, static_cast<int>(words.size()), words.data());
    // A log that cannot be had is an empty one.
    Fetch(f_.log_size, f_.log, log_);
    DropTerminator(log_);
    if (compiled == NVRTC_ERROR_COMPILATION) return CompileError(kernel, log_);
    if (compiled == NVRTC_SUCCESS) return absl::OkStatus();
    absl::Status status = f_.ErrorOf(compiled, "nvrtcCompileProgram");
    return absl::InternalError(absl::StrCat(status.message(), " (", kernel, ")\n", log_));
  }

  absl::Status GetPtx(std::string& ptx) const {
    nvrtcResult result = Fetch(f_.ptx_size, f_.ptx, ptx);
    DropTerminator(ptx);
    return f_.ErrorOf(result, "nvrtcGetPTX");
  }

  absl::Status GetCubin(std::vector<uint8_t>& cubin) const {
    return f_.ErrorOf(Fetch(f_.cubin_size, f_.cubin, cubin), "nvrtcGetCUBIN");
  }

  const std::string& log() const { return log_; }

 private:
  // Calls one of NVRTC's pairs of functions: how many bytes, and the bytes.
  template <typename SizeFunction, typename BytesFunction, typename Bytes>
  nvrtcResult Fetch(SizeFunction size_of, BytesFunction get, Bytes& bytes) const {
    size_t size = 0;
    nvrtcResult result = size_of(program_, &size);
    if (result != NVRTC_SUCCESS || size == 0) return result;
    bytes.resize(size);
    return get(program_, reinterpret_cast<char*>(bytes.data()));
  }

  static void DropTerminator(std::string& text) {
    while (!text.empty() && text.back() == '\0') text.pop_back();
  }

  const Functions& f_;
  nvrtcProgram program_ = nullptr;
  std::string log_;
};

absl::StatusOr<Binary> Nvrtc::Compile(const Source& source, absl::string_view arch,
                                      llvm::ArrayRef<std::string> more) const {
  absl::StatusOr<std::string> target = TargetFor(arch);
  if (!target.ok()) return target.status();
  if (source.kernels.empty()) return absl::InvalidArgumentError("a source without kernels");

  Program program(*functions_);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::string> options = Options(*target);
  options.insert(options.end(), more.begin(), more.end());
  absl::Status compiled = program.Compile(source, options);
  if (!compiled.ok()) return compiled;
  Binary binary;
  binary.arch = std::string(arch);
  binary.compile_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  if (absl::Status ptx = program.GetPtx(binary.ptx); !ptx.ok()) return ptx;
  if (absl::StartsWith(*target, "sm_")) {
    if (absl::Status cubin = program.GetCubin(binary.cubin); !cubin.ok()) return cubin;
    auto resources = ReadCubin(binary.cubin, source.kernels);
    if (!resources.ok()) return absl::InternalError(resources.status().message());
    binary.resources = *std::move(resources);
  } else {
    for (const std::string& kernel : source.kernels) {
      binary.resources.emplace_back().name = kernel;
    }
  }
  binary.log = TakePtxasRemarks(program.log(), binary.resources);
  return binary;
}

}  // namespace onepass
