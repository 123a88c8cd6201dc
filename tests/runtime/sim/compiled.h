// Kernels of tests/runtime/sim/kernels, compiled by NVRTC when a test asks for them.
#pragma once

#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "runtime/nvrtc.h"
#include "tests/runtime/sim/run_ptx.h"

namespace onepass::sim {

inline std::string KernelSource(const std::string& file) {
  std::ifstream in(std::string(ONEPASS_SOURCE_DIR) + "/tests/runtime/sim/kernels/" + file);
  EXPECT_TRUE(in.good()) << file;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The module of FILE.cu for "compute_90", once a process.
inline std::shared_ptr<const Module> Compiled(const std::string& file, const std::string& arch,
                                              const std::string& before = "") {
  static auto* modules = new std::map<std::string, std::shared_ptr<const Module>>;
  std::shared_ptr<const Module>& module = (*modules)[file + arch];
  if (module != nullptr) return module;
  const char* home = std::getenv("CUDA_HOME");
  static const auto nvrtc = Nvrtc::Load(
      {.cuda_home = home == nullptr ? "" : home, .toolkit_folder = ONEPASS_SOURCE_DIR "/.toolkit"});
  EXPECT_TRUE(nvrtc.ok()) << nvrtc.status();
  if (!nvrtc.ok()) return nullptr;
  Source source;
  source.text = before + KernelSource(file + ".cu");
  if (absl::StrContains(source.text, "//#include")) {
    source.text = absl::StrReplaceAll(source.text,
                                      {{"//#include \"values.inc\"", KernelSource("values.inc")}});
  }
  const size_t name = source.text.find("__global__ void ") + 16;
  source.kernels.push_back(source.text.substr(name, source.text.find('(', name) - name));
  const auto binary = (*nvrtc)->Compile(source, arch);
  EXPECT_TRUE(binary.ok()) << file << ": " << binary.status();
  if (!binary.ok()) return nullptr;
  module = Parsed(binary->ptx);
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
