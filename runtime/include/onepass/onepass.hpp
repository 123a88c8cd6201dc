// Onepass for C++17 and later: a thin layer over the C interface, which has the full documentation.
//
//     onepass::Engine engine("auto");
//     onepass::Problem problem("layer_norm.fwd bf16 8192x4096");
//     engine.Run(problem, {.addresses = addresses, .stream = stream});  // C++20; or by position
//
// Failures are thrown as onepass::Error, with the status and the message of the C interface; where
// exceptions are off, use that. Handles free themselves and move. Threads: as in C, a const Problem
// and an Engine serve any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "onepass/onepass.h"

namespace onepass {
// Keeps these names apart from the library's own in programs that link it statically.
inline namespace client {

class Error : public std::runtime_error {
 public:
  Error(onepass_status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  onepass_status status() const noexcept { return status_; }

 private:
  onepass_status status_;
};

// Throws where the status is not ONEPASS_OK. For calls of the C interface on this thread.
inline void Check(onepass_status status) {
  if (status != ONEPASS_OK) throw Error(status, onepass_last_error());
}

inline const char* Version() noexcept { return onepass_version(); }

class Problem {
 public:
  explicit Problem(const std::string& line) {
    onepass_problem* problem = nullptr;
    Check(onepass_problem_parse(line.c_str(), &problem));
    handle_.reset(problem);
    tensors_.resize(onepass_problem_tensor_count(problem));
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      Check(onepass_problem_tensor(problem, i, &tensors_[i]));
  }

  std::string text() const { return onepass_problem_text(get()); }
  // In the order of Launch::addresses, inputs first. The names live as long as the problem.
  const std::vector<onepass_tensor>& tensors() const noexcept { return tensors_; }
  // The index of the tensor of this name, or -1.
  int Find(const std::string& name) const { return onepass_problem_find(get(), name.c_str()); }

  const onepass_problem* get() const noexcept { return handle_.get(); }

 private:
  struct Destroy {
    void operator()(onepass_problem* problem) const { onepass_problem_destroy(problem); }
  };
  std::unique_ptr<onepass_problem, Destroy> handle_;
  std::vector<onepass_tensor> tensors_;
};

// Device memory of an engine, which must outlive it.
class Buffer {
 public:
  Buffer() = default;
  Buffer(onepass_engine* engine, std::int64_t bytes) : engine_(engine), bytes_(bytes) {
    Check(onepass_alloc(engine, bytes, &address_));
  }
  Buffer(Buffer&& other) noexcept
      : engine_(other.engine_),
        address_(std::exchange(other.address_, 0)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(engine_, other.engine_);
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Buffer() {
    if (address_ != 0) onepass_free(engine_, address_);
  }

  std::uint64_t address() const noexcept { return address_; }
  std::int64_t bytes() const noexcept { return bytes_; }

  // All bytes() of it, from and to the host.
  void CopyIn(const void* from) { Check(onepass_copy_in(engine_, address_, from, bytes_)); }
  void CopyOut(void* to) const { Check(onepass_copy_out(engine_, to, address_, bytes_)); }
  void Zero() { Check(onepass_zero(engine_, address_, bytes_)); }

 private:
  onepass_engine* engine_ = nullptr;
  std::uint64_t address_ = 0;
  std::int64_t bytes_ = 0;
};

// What one launch works on; see onepass_launch.
struct Launch {
  const std::vector<std::uint64_t>& addresses;
  const Buffer* workspace = nullptr;
  void* stream = nullptr;
};

class Engine {
 public:
  // See onepass_engine_create; "" is the environment's device.
  explicit Engine(const std::string& device = "",
                  const onepass_options& options = ONEPASS_OPTIONS_INIT) {
    onepass_engine* engine = nullptr;
    Check(onepass_engine_create(device.empty() ? nullptr : device.c_str(), &options, &engine));
    handle_.reset(engine);
  }

  std::string device() const { return onepass_engine_device(get()); }

  // Builds the kernel now and says how much workspace it needs.
  onepass_workspace Prepare(const Problem& problem, std::int64_t alignment = 0) {
    onepass_workspace workspace = {};
    Check(onepass_prepare(get(), problem.get(), alignment, &workspace));
    return workspace;
  }

  // Asynchronous on real devices.
  void Run(const Problem& problem, const Launch& launch) {
    const onepass_launch arguments = {launch.addresses.data(), launch.addresses.size(),
                                      launch.workspace == nullptr ? 0 : launch.workspace->address(),
                                      launch.workspace == nullptr ? 0 : launch.workspace->bytes(),
                                      launch.stream};
    Check(onepass_run(get(), problem.get(), &arguments));
  }

  void Synchronize(void* stream = nullptr) { Check(onepass_synchronize(get(), stream)); }

  Buffer Allocate(std::int64_t bytes) { return Buffer(get(), bytes); }
  // Zeroed as a launch wants it.
  Buffer Allocate(const onepass_workspace& workspace) {
    Buffer buffer(get(), workspace.bytes);
    if (workspace.barrier_bytes > 0)
      Check(onepass_zero(get(), buffer.address(), workspace.barrier_bytes));
    return buffer;
  }

  onepass_engine* get() const noexcept { return handle_.get(); }

 private:
  struct Destroy {
    void operator()(onepass_engine* engine) const { onepass_engine_destroy(engine); }
  };
  std::unique_ptr<onepass_engine, Destroy> handle_;
};

}  // namespace client
}  // namespace onepass
