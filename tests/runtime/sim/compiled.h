// Kernels of tests/runtime/sim/kernels, compiled by NVRTC or nvcc when a test asks for them.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "runtime/nvrtc.h"
#include "tests/runtime/plain_nvcc.h"
#include "tests/runtime/sim/run_ptx.h"
#include "tests/runtime/temporary_folder.h"

namespace onepass::sim {

inline std::string KernelSource(const std::string& file) {
  std::ifstream in(std::string(ONEPASS_SOURCE_DIR) + "/tests/runtime/sim/kernels/" + file);
  EXPECT_TRUE(in.good()) << file;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::string CudaHome() {
  const char* home = std::getenv("CUDA_HOME");
  return home == nullptr ? "" : home;
}

inline std::string PtxByNvrtc(const std::string& text, const std::string& arch) {
  static const auto nvrtc =
      Nvrtc::Load({.cuda_home = CudaHome(), .toolkit_folder = ONEPASS_SOURCE_DIR "/.toolkit"});
  EXPECT_TRUE(nvrtc.ok()) << nvrtc.status();
  if (!nvrtc.ok()) return "";
  Source source;
  source.text = text;
  const size_t name = text.find("__global__ void ") + 16;
  source.kernels.push_back(text.substr(name, text.find('(', name) - name));
  const auto binary = (*nvrtc)->Compile(source, arch);
  EXPECT_TRUE(binary.ok()) << binary.status();
  return binary.ok() ? binary->ptx : "";
}

// Empty: the machine has no nvcc.
inline const std::string& Nvcc() {
  static const auto* found = new std::string(FindNvcc(CudaHome()));
  return *found;
}

// As a user would: nvcc -ptx -arch=compute_90, with all its defaults.
inline std::string PtxByNvcc(const std::string& text, const std::string& arch) {
  const TemporaryFolder folder;
  std::ofstream(folder / "kernel.cu") << text;
  EXPECT_EQ(ExitStatusOf({Nvcc(), "-w", "-ptx", "-arch=" + arch, folder / "kernel.cu", "-o",
                          folder / "kernel.ptx"}),
            0);
  std::ifstream in(folder / "kernel.ptx");
  return {std::istreambuf_iterator<char>(in), {}};
}

// The module of FILE.cu for "compute_90", by NVRTC, or for "nvcc:compute_90"; once a process.
inline std::shared_ptr<const Module> Compiled(const std::string& file, const std::string& arch,
                                              const std::string& before = "") {
  static auto* modules = new std::map<std::string, std::shared_ptr<const Module>>;
  std::shared_ptr<const Module>& module = (*modules)[file + arch];
  if (module != nullptr) return module;
  std::string text = before + KernelSource(file + ".cu");
  if (absl::StrContains(text, "//#include")) {
    text = absl::StrReplaceAll(text, {{"//#include \"values.inc\"", KernelSource("values.inc")}});
  }
  const bool nvcc = arch.starts_with("nvcc:");
  module = Parsed(nvcc ? PtxByNvcc(text, arch.substr(5)) : PtxByNvrtc(text, arch));
  return module;
}

// One kernel of a module, launched on a Gpu of its own.
class Program {
 public:
  Program(const std::string& file, const std::string& arch, GpuOptions options = {},
          Machine machine = {}, const std::string& before = "")
      : module_(Compiled(file, arch, before)), gpu_(std::move(machine), options) {}

  Gpu& gpu() { return gpu_; }
  const Module& module() { return *module_; }

  template <class T>
  uint64_t In(const std::vector<T>& values, const std::string& label = "in") {
    return Upload(gpu_, values, label);
  }
  template <class T>
  uint64_t Out(size_t count) {
    return Upload(gpu_, std::vector<T>(count), "out");
  }
  template <class T>
  std::vector<T> Take(uint64_t address, size_t count) {
    return Download<T>(gpu_, address, count);
  }

  absl::Status Launch(const LaunchShape& shape, const Packed& parameters) {
    std::vector<uint8_t> bytes = parameters.bytes();
    const Entry* entry = module_ == nullptr ? nullptr : module_->FindEntry(shape.entry);
    if (entry == nullptr) return absl::NotFoundError(shape.entry);
    bytes.resize(entry->parameter_bytes);
    return gpu_.Launch(*module_, shape, bytes);
  }

 private:
  std::shared_ptr<const Module> module_;
  Gpu gpu_;
};

}  // namespace onepass::sim
