#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cache/digest.h"

namespace onepass::cache {

// A folder of files named after digests, shared by any number of processes and machines:
//
//   <folder>/<2 digits>/<62 digits>.e1     an entry of format version 1 (kEntryVersion)
//   <folder>/<2 digits>/.new-XXXXXX        being written, under flock; stale after kStaleAfter
//
// Files appear whole or not at all (written under a temporary name, fsync'ed, renamed) and there
// are no locks, so a killed process leaves nothing behind but a temporary file. After a power cut
// the newest entries may be missing; that the folder itself is not fsync'ed costs them, and saves
// a second wait on the disk for each entry.
//
// Thread safe: a value without mutable state.
class Folder {
 public:
  static constexpr absl::Duration kStaleAfter = absl::Hours(1);

  // A file that a walk found.
  struct File {
    std::string path;
    std::optional<Digest> digest = std::nullopt;  // none: temporary, or of another format version
    bool temporary = false;
    int64_t bytes = 0;
    absl::Time modified = absl::InfinitePast();
  };

  // Creates the folder where it is missing, for its owner only (0700), as are missing parents. In
  // a folder that exists, files are as visible as the folder is, but never writable by others.
  //
  // What is read from here runs on the GPU with this user's data, so PERMISSION_DENIED where
  // everybody may write and another user owns the folder; where everybody may write to a folder of
  // this user, files of other users do not exist. PERMISSION_DENIED too where this user may not
  // look into the folder. INVALID_ARGUMENT: an empty or relative path.
  static absl::StatusOr<Folder> Open(absl::string_view path);

  const std::string& path() const { return path_; }

  // The file's bytes. NOT_FOUND where there is none (or none to be trusted).
  absl::StatusOr<std::string> ReadFile(const Digest& digest) const;

  // Why nothing can be put into the folder, or OK. A look at the permissions only: a full disk, or
  // a shard of another user, is found out by Publish.
  absl::Status writable() const;

  // ReadFile that also makes the file the most recently used one, where permissions allow.
  absl::StatusOr<std::string> ReadAndTouch(const Digest& digest) const;

  // Puts a file in place of whatever is there. On an error nothing has changed.
  absl::Status Publish(const Digest& digest, absl::string_view bytes) const;

  void Remove(const Digest& digest) const;

  // Every entry (of any format version) and temporary file; foreign files are never listed.
  std::vector<File> Walk() const;

  // What stands under an entry's name and is no file: folders, links, pipes.
  std::vector<File> Intruders() const;

  // Whether a temporary file's writer is gone: nobody holds its lock. Where locks do not work, no
  // writer is known to be gone.
  static bool IsLeftOver(const File& temporary);

 private:
  Folder(std::string path, mode_t mode, bool only_own_files)
      : path_(std::move(path)), mode_(mode), only_own_files_(only_own_files) {}

  std::string ShardOf(const Digest& digest) const;
  std::string PathOf(const Digest& digest) const;
  absl::StatusOr<std::string> ReadFile(const Digest& digest, bool touch) const;
  absl::Status PublishOnce(const Digest& digest, absl::string_view bytes) const;
  absl::StatusOr<int> CreateTemporary(const std::string& shard, std::string& path) const;
  absl::Status WriteNew(int fd, absl::string_view bytes) const;

  std::string path_;
  mode_t mode_;          // of the folder: what its shards and files derive theirs from
  bool only_own_files_;  // everybody may write here
};

}  // namespace onepass::cache
