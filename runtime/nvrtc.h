// Nvrtc: NVIDIA's run-time compiler, loaded while the program runs. Needs no GPU and no driver.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "codegen/plan.h"
#include "llvm/ADT/ArrayRef.h"
#include "runtime/binary.h"
#include "runtime/toolkit_paths.h"

namespace onepass {

// Thread safe; compiles of several threads run at the same time as far as NVRTC lets them. A
// process that forks while a compile runs must exec at once: NVRTC's locks are not made for
// forking.
class Nvrtc {
 public:
  // Loads the first usable NVRTC of NvrtcCandidates; about 6 ms, 30 from a cold disk. UNAVAILABLE
  // where there is none from kOldestVersion on: says where it was looked for and what brings it.
  static absl::StatusOr<std::shared_ptr<Nvrtc>> Load(const ToolkitPaths& paths);
  // The same of given libraries, paths or names.
  static absl::StatusOr<std::shared_ptr<Nvrtc>> LoadFirstOf(llvm::ArrayRef<std::string> candidates);

  // The oldest version that takes all of Options, times ten: 12.9.
  static constexpr int kOldestVersion = 129;

  ~Nvrtc();

  // "13.0 65be0db342ad..." names the very build, wherever it lies: part of a binary's digest.
  const std::string& version() const { return version_; }
  const std::string& path() const { return path_; }

  // Compute capabilities times ten that it makes machine code for, ascending.
  const std::vector<int>& SupportedArchs() const { return archs_; }

  // What Compile passes for an arch: part of a binary's digest.
  static std::vector<std::string> Options(absl::string_view arch);

  // Cubin and PTX from one compile: 30 ms for an empty kernel, 100-350 for a real one. Neither
  // headers nor include paths. `arch` is "sm_90"; one that is newer than this NVRTC gets the PTX of
  // the newest it knows, and no cubin; "compute_90" gets PTX only, in half the time.
  //
  // ABORTED where the source does not compile: the first line names the first kernel and the first
  // error, NVRTC's log follows. INVALID_ARGUMENT for an arch that is none, UNIMPLEMENTED for one
  // older than it knows, INTERNAL for everything else that NVRTC says.
  // `more` are options besides Options(arch).
  absl::StatusOr<Binary> Compile(const Source& source, absl::string_view arch,
                                 llvm::ArrayRef<std::string> more = {}) const;

 private:
  struct Functions;
  class Program;

  Nvrtc();
  static absl::StatusOr<std::shared_ptr<Nvrtc>> LoadFrom(const std::string& candidate);
  // What to compile for when `arch` is asked for.
  absl::StatusOr<std::string> TargetFor(absl::string_view arch) const;

  std::unique_ptr<const Functions> functions_;
  std::string version_;
  std::string path_;
  std::vector<int> archs_;
};

}  // namespace onepass
