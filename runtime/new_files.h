// NewFiles: output files that appear whole and together, or not at all.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"

namespace onepass {

// Write puts each file under a temporary name beside its final one; Commit renames them all. What
// was not committed is removed. A path that exists and is no regular file, and all of /dev, is
// written at once. Errors name the path: kInvalidArgument where it cannot be created,
// kResourceExhausted where the disk is full, kInternal otherwise. Not thread safe.
class NewFiles {
 public:
  // kLasting: when Commit has returned, a power cut takes nothing away.
  enum class Kind { kOrdinary, kLasting };
  using Sink = absl::FunctionRef<absl::Status(absl::string_view)>;

  explicit NewFiles(Kind kind = Kind::kOrdinary) : kind_(kind) {}
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  ~NewFiles();

  // The file's bytes are the pieces, one after the other.
  absl::Status Write(const std::string& path, llvm::ArrayRef<absl::string_view> pieces);
  // The file's bytes are what `produce` gives its sink, piece by piece; an error of `produce` is
  // returned.
  absl::Status Stream(const std::string& path, absl::FunctionRef<absl::Status(Sink)> produce);
  absl::Status Commit();

 private:
  const Kind kind_;
  std::vector<std::pair<std::string, std::string>> pending_;  // temporary name, final name
};

// Creates a folder and its parents where they are missing. kInvalidArgument names the path.
absl::Status MakeFolder(const std::string& path);

}  // namespace onepass
