// A shared library that is found while the program runs, so that it starts on machines without it.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace onepass {

// A plain value. The library stays loaded until the process ends: NVIDIA's libraries start threads
// and register exit handlers, so they cannot be unloaded safely. Thread safe.
class DynamicLibrary {
 public:
  // `name` is a path, or a file name that the loader looks up by its own rules. UNAVAILABLE with
  // the loader's own message.
  static absl::StatusOr<DynamicLibrary> Open(const std::string& name);

  // The function of that name, or null. F is its type: library.Find<decltype(nvrtcVersion)>("...").
  template <typename F>
  F* Find(const char* name) const {
    return reinterpret_cast<F*>(Symbol(name));
  }

  // Where the loader found it, absolute.
  const std::string& path() const { return path_; }

  // Identifies the very build: the linker's build id in hexadecimal, or a hash of the file where
  // the library has none.
  std::string BuildId() const;

 private:
  explicit DynamicLibrary(void* handle);

  void* Symbol(const char* name) const;

  void* handle_;
  std::string path_;
};

}  // namespace onepass
