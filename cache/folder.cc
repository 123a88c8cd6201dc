#include "cache/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cache/entry.h"

namespace onepass::cache {
namespace {

constexpr absl::string_view kTemporaryPrefix = ".new-";
constexpr absl::string_view kVersionMark = ".e";

// Larger than any binary: a length that can only be damage must not become an allocation.
constexpr int64_t kLargestFile = int64_t{1} << 30;

absl::Status PosixError(absl::string_view call, absl::string_view path) {
  int error = errno;
  return absl::ErrnoToStatus(error, absl::StrCat(call, " ", path));
}

absl::Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return absl::OkStatus();
  if (errno != ENOENT) return PosixError("mkdir", path);
  std::string parent = std::filesystem::path(path).parent_path().string();
  if (parent.empty() || parent == path) return PosixError("mkdir", path);
  if (absl::Status made = MakeFolder(parent); !made.ok()) return made;
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return absl::OkStatus();
  return PosixError("mkdir", path);
}

absl::Status WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return PosixError("write", "a new entry");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

// The time of last use, finer than the clock ticks that the kernel would take: what is evicted
// first goes by it.
void Touch(int fd) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const timespec times[] = {now, now};
  futimens(fd, times);
}

// What is there, up to `size` bytes: a file that was cut short meanwhile is found out by its
// parser.
absl::StatusOr<std::string> ReadAll(int fd, int64_t size, const std::string& path) {
  std::string bytes(static_cast<size_t>(size), '\0');
  size_t filled = 0;
  while (filled < bytes.size()) {
    ssize_t got = read(fd, bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return PosixError("read", path);
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

// The digest of shard `ab` and file `cd...ef.e1`; false where the name is not an entry's.
bool ParseName(absl::string_view shard, absl::string_view name, Folder::File& file) {
  if (absl::StartsWith(name, kTemporaryPrefix)) {
    file.temporary = true;
    return true;
  }
  size_t digits = 2 * Digest::kBytes - shard.size();
  if (name.size() <= digits || !absl::StartsWith(name.substr(digits), kVersionMark)) return false;
  std::optional<Digest> digest = Digest::FromHex(absl::StrCat(shard, name.substr(0, digits)));
  uint32_t version = 0;
  if (!digest || !absl::SimpleAtoi(name.substr(digits + kVersionMark.size()), &version)) {
    return false;
  }
  if (version == kEntryVersion) file.digest = digest;
  return true;
}

// Everything that has an entry's or a temporary file's name and is a file (or, for `files` false,
// is none). By directory handle instead of by path: a full cache has tens of thousands of files.
void WalkShard(const std::string& root, absl::string_view shard, bool files,
               std::vector<Folder::File>& found_files) {
  std::string path = absl::StrCat(root, "/", shard);
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return;
  while (const dirent* found = readdir(folder)) {
    Folder::File file;
    struct stat status;
    if (!ParseName(shard, found->d_name, file) ||
        fstatat(dirfd(folder), found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        S_ISREG(status.st_mode) != files) {
      continue;
    }
    file.path = absl::StrCat(path, "/", found->d_name);
    file.bytes = status.st_size;
    file.modified = absl::TimeFromTimespec(status.st_mtim);
    found_files.push_back(std::move(file));
  }
  closedir(folder);
}

std::vector<Folder::File> WalkShards(const std::string& root, bool files) {
  std::vector<Folder::File> found;
  for (int shard = 0; shard < 256; ++shard) {
    WalkShard(root, absl::StrCat(absl::Hex(shard, absl::kZeroPad2)), files, found);
  }
  return found;
}

}  // namespace

absl::StatusOr<Folder> Folder::Open(absl::string_view path) {
  if (!absl::StartsWith(path, "/")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the cache folder '", path, "' is not an absolute path; is HOME or the cache folder set?"));
  }
  std::string name(path);
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  if (absl::Status made = MakeFolder(name); !made.ok()) return made;
  struct stat status;
  if (stat(name.c_str(), &status) != 0) return PosixError("stat", name);
  if (!S_ISDIR(status.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(name, " is not a folder"));
  }
  if (faccessat(AT_FDCWD, name.c_str(), R_OK | X_OK, AT_EACCESS) != 0) {
    return PosixError("read", name);
  }
  bool writable_by_all = (status.st_mode & S_IWOTH) != 0;
  if (writable_by_all && status.st_uid != geteuid()) {
    return absl::PermissionDeniedError(
        absl::StrCat(name, " can be written by everybody and belongs to another user"));
  }
  return Folder(std::move(name), status.st_mode & 0777, writable_by_all);
}

std::string Folder::ShardOf(const Digest& digest) const {
  return absl::StrCat(path_, "/", digest.ToHex().substr(0, 2));
}

std::string Folder::PathOf(const Digest& digest) const {
  std::string hex = digest.ToHex();
  return absl::StrCat(path_, "/", hex.substr(0, 2), "/", hex.substr(2), kVersionMark,
                      kEntryVersion);
}

absl::StatusOr<std::string> Folder::ReadFile(const Digest& digest) const {
  return ReadFile(digest, /*touch=*/false);
}

absl::StatusOr<std::string> Folder::ReadAndTouch(const Digest& digest) const {
  return ReadFile(digest, /*touch=*/true);
}

absl::StatusOr<std::string> Folder::ReadFile(const Digest& digest, bool touch) const {
  std::string path = PathOf(digest);
  // Neither a link that leads out of the folder nor a pipe that nobody writes to is an entry.
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return PosixError("open", path);
  absl::Cleanup close_fd = [fd] { close(fd); };
  struct stat status;
  if (fstat(fd, &status) != 0) return PosixError("fstat", path);
  if (!S_ISREG(status.st_mode)) return absl::NotFoundError(absl::StrCat(path, " is not a file"));
  if (only_own_files_ && status.st_uid != geteuid()) {
    return absl::NotFoundError(absl::StrCat(path, " belongs to another user"));
  }
  if (status.st_size > kLargestFile) return std::string();
  if (touch) Touch(fd);
  return ReadAll(fd, status.st_size, path);
}

absl::Status Folder::writable() const {
  if (faccessat(AT_FDCWD, path_.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return absl::OkStatus();
  return PosixError("write to", path_);
}

absl::Status Folder::WriteNew(int fd, absl::string_view bytes) const {
  // Says that its writer lives (IsLeftOver). Without it nothing is lost but that knowledge.
  flock(fd, LOCK_EX | LOCK_NB);
  if (fchmod(fd, 0600 | (mode_ & 0064)) != 0) return PosixError("fchmod", "a new entry");
  if (absl::Status written = WriteAll(fd, bytes); !written.ok()) return written;
  // Also where network file systems report a full disk; close() has nothing left to say then.
  Touch(fd);
  if (fsync(fd) != 0) return PosixError("fsync", "a new entry");
  return absl::OkStatus();
}

absl::StatusOr<int> Folder::CreateTemporary(const std::string& shard, std::string& path) const {
  const std::string pattern = absl::StrCat(shard, "/", kTemporaryPrefix, "XXXXXX");
  path = pattern;
  int fd = mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) {
    // Somebody may have removed the whole folder meanwhile: who owns it is judged again.
    if (absl::StatusOr<Folder> again = Open(path_); !again.ok()) return again.status();
    if (absl::Status made = MakeFolder(shard); !made.ok()) return made;
    chmod(shard.c_str(), 0700 | (mode_ & 0775));
    path = pattern;
    fd = mkostemp(path.data(), O_CLOEXEC);
  }
  if (fd < 0) return PosixError("create a file in", shard);
  return fd;
}

absl::Status Folder::Publish(const Digest& digest, absl::string_view bytes) const {
  absl::Status published;
  // NOT_FOUND: somebody cleans up at this very moment, and took the shard or the new file with it.
  for (int tries = 0; tries < 3; ++tries) {
    published = PublishOnce(digest, bytes);
    if (!absl::IsNotFound(published)) break;
  }
  return published;
}

absl::Status Folder::PublishOnce(const Digest& digest, absl::string_view bytes) const {
  std::string temporary;
  const absl::StatusOr<int> fd = CreateTemporary(ShardOf(digest), temporary);
  if (!fd.ok()) return fd.status();
  // The file stays open, and so locked, until it has its final name.
  absl::Cleanup close_fd = [&] { close(*fd); };
  absl::Status written = WriteNew(*fd, bytes);
  if (written.ok() && rename(temporary.c_str(), PathOf(digest).c_str()) != 0) {
    written = PosixError("rename", temporary);
  }
  if (!written.ok()) unlink(temporary.c_str());
  return written;
}

void Folder::Remove(const Digest& digest) const { unlink(PathOf(digest).c_str()); }

std::vector<Folder::File> Folder::Walk() const { return WalkShards(path_, /*files=*/true); }

std::vector<Folder::File> Folder::Intruders() const { return WalkShards(path_, /*files=*/false); }

bool Folder::IsLeftOver(const File& temporary) {
  const int fd = open(temporary.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  const bool left_over = flock(fd, LOCK_EX | LOCK_NB) == 0;
  close(fd);
  return left_over;
}

}  // namespace onepass::cache
