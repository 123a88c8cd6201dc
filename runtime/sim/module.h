// A PTX module, parsed, checked and translated to the simulated GPU's own compact form.
//
// Everything that can be wrong with the text is found here, before anything runs: a syntax error is
// kInvalidArgument, a form that the machine does not know is kUnimplemented; both are one line that
// states the PTX line and its text. A Module is immutable and may be shared by threads and Gpus.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace onepass::sim {

struct Program;  // runtime/sim/program.h; the form that is executed

// One kernel parameter, as the caller has to lay it out.
struct Parameter {
  std::string name;
  int64_t offset = 0;
  int64_t bytes = 0;
  int64_t alignment = 1;
};

// One .entry of the module.
struct Entry {
  std::string name;
  std::vector<Parameter> parameters;
  int64_t parameter_bytes = 0;  // end of the last parameter
  int64_t static_shared_bytes = 0;
  int64_t local_bytes_per_thread = 0;
  uint32_t max_threads = 0;                  // product of .maxntid or .reqntid; 0 where not stated
  uint32_t required_threads[3] = {0, 0, 0};  // .reqntid; zeros where not stated
  uint32_t required_cluster[3] = {0, 0, 0};  // .reqnctapercluster; zeros where not stated
  absl::Status supported;     // what stands in the way of launching it: an unknown form
  int register_estimate = 0;  // 32-bit registers a thread, by this machine's own allocation
};

class Module {
 public:
  // Fails where no entry could be launched; what is unknown in one of several is in
  // Entry::supported.
  static absl::StatusOr<std::shared_ptr<const Module>> Parse(std::string_view ptx);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* FindEntry(std::string_view name) const;   // null where there is none
  const std::string& target() const { return target_; }  // "sm_90"
  // Of this process; never used again. Lets a Gpu remember what it has loaded.
  uint64_t id() const { return id_; }
  const Program& program() const { return *program_; }

 private:
  Module() = default;

  uint64_t id_ = 0;
  std::string target_;
  std::vector<Entry> entries_;
  std::unique_ptr<const Program> program_;
};

}  // namespace onepass::sim
