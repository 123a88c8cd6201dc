// NewFiles: output files that appear whole and together, or not at all.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace onepass {

// Write puts each file under a temporary name beside its final one; Commit renames them all. What
// was not committed is removed. A path that exists and is no regular file (a pipe, /dev/null) is
// written at once. Errors name the path: kInvalidArgument where it cannot be created,
// kResourceExhausted where the disk is full, kInternal otherwise. Not thread safe.
class NewFiles {
 public:
  NewFiles() = default;
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  ~NewFiles();

  // The file's bytes are the pieces, one after the other.
  absl::Status Write(const std::string& path, absl::Span<const absl::string_view> pieces);
  absl::Status Commit();

 private:
  std::vector<std::pair<std::string, std::string>> pending_;  // temporary name, final name
};

// Creates a folder and its parents where they are missing. kInvalidArgument names the path.
absl::Status MakeFolder(const std::string& path);

}  // namespace onepass
