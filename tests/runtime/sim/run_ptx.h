// Runs small PTX kernels on a simulated GPU and hands their output back.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/sim/gpu.h"

namespace onepass::sim {

// Kernel parameters, laid out as PTX does.
class Packed {
 public:
  template <class T>
  Packed& Add(T value) {
    bytes_.resize((bytes_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T) + sizeof(T));
    std::memcpy(bytes_.data() + bytes_.size() - sizeof(T), &value, sizeof(T));
    return *this;
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

inline std::string ReadCase(const std::string& name) {
  std::ifstream file(std::string(ONEPASS_SOURCE_DIR) + "/tests/cases/sim/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::shared_ptr<const Module> Parsed(const std::string& ptx) {
  auto module = Module::Parse(ptx);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *module : nullptr;
}

template <class T>
uint64_t Upload(Gpu& gpu, const std::vector<T>& values, const std::string& label) {
  const int64_t bytes = static_cast<int64_t>(values.size() * sizeof(T));
  auto address = gpu.memory().Allocate(bytes, 256, 0, label, sizeof(T));
  EXPECT_TRUE(address.ok()) << address.status();
  EXPECT_TRUE(gpu.memory().Write(*address, values.data(), bytes).ok());
  return *address;
}

template <class T>
std::vector<T> Download(Gpu& gpu, uint64_t address, size_t count) {
  std::vector<T> values(count);
  EXPECT_TRUE(gpu.memory().Read(address, values.data(), count * sizeof(T)).ok());
  return values;
}

// A kernel `k` of one pointer to input and one to output.
inline std::string KernelText(const std::string& body, const std::string& before = "") {
  return ".version 9.0\n.target sm_90\n.address_size 64\n" + before +
         ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
         ".reg .pred %p<16>; .reg .b16 %h<32>; .reg .b32 %r<32>; .reg .f32 %f<32>;\n"
         ".reg .b64 %d<32>; .reg .f64 %g<32>;\n"
         "ld.param.u64 %d30, [in]; ld.param.u64 %d31, [out];\n" +
         body + "\nret;\n}\n";
}

// Runs `body` with one block of `threads`; input and output bytes as the kernel sees them.
inline absl::StatusOr<std::vector<uint8_t>> RunBody(const std::string& body,
                                                    const std::vector<uint8_t>& in,
                                                    size_t out_bytes, uint32_t threads = 1,
                                                    const std::string& before = "") {
  auto module = Module::Parse(KernelText(body, before));
  if (!module.ok()) return module.status();
  Gpu gpu(Machine{.sms = 1}, GpuOptions{.host_threads = 1, .instruction_limit = 1 << 22});
  const uint64_t from = Upload(gpu, in, "in");
  const uint64_t to = Upload(gpu, std::vector<uint8_t>(out_bytes), "out");
  const LaunchShape shape{.entry = "k", .block = {threads, 1, 1}, .dynamic_shared_bytes = 1024};
  const absl::Status status = gpu.Launch(**module, shape, Packed().Add(from).Add(to).bytes());
  if (!status.ok()) return status;
  return Download<uint8_t>(gpu, to, out_bytes);
}

// The same for vectors of values.
template <class Out, class In>
std::vector<Out> Outputs(const std::string& body, const std::vector<In>& in, size_t count,
                         uint32_t threads = 1, const std::string& before = "") {
  std::vector<uint8_t> bytes(in.size() * sizeof(In));
  if (!bytes.empty()) std::memcpy(bytes.data(), in.data(), bytes.size());
  const auto result = RunBody(body, bytes, count * sizeof(Out), threads, before);
  EXPECT_TRUE(result.ok()) << result.status();
  std::vector<Out> out(count);
  if (result.ok()) std::memcpy(out.data(), result->data(), result->size());
  return out;
}

}  // namespace onepass::sim
