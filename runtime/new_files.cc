#include "runtime/new_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace onepass {
namespace {

absl::Status FileError(const std::string& path, absl::string_view verb, int error) {
  const std::string message = absl::StrCat(path, ": cannot ", verb, ": ", std::strerror(error));
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::ResourceExhaustedError(message);
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EPERM:
    case EROFS:
    case ENAMETOOLONG:
    case ELOOP:
      return absl::InvalidArgumentError(message);
    default:
      return absl::InternalError(message);
  }
}

bool WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// So that the new name lasts; where a file system cannot do this, there is nothing to be done.
void SyncFolderOf(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const int fd = open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

// What must be written itself instead of being replaced: a pipe, a device, and whatever lies behind
// /dev/stdout.
bool IsSpecial(const std::string& path) {
  if (absl::StartsWith(path, "/dev/") || absl::StartsWith(path, "/proc/")) return true;
  struct stat status;
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

NewFiles::~NewFiles() {
  for (const auto& [temporary, path] : pending_) unlink(temporary.c_str());
}

absl::Status NewFiles::Write(const std::string& path, llvm::ArrayRef<absl::string_view> pieces) {
  return Stream(path, [&](Sink sink) {
    for (const absl::string_view piece : pieces) {
      if (absl::Status s = sink(piece); !s.ok()) return s;
    }
    return absl::OkStatus();
  });
}

absl::Status NewFiles::Stream(const std::string& path,
                              absl::FunctionRef<absl::Status(Sink)> produce) {
  const bool special = IsSpecial(path);
  const std::string target = special ? path : absl::StrCat(path, ".new-", getpid());
  const int fd = open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return FileError(path, "create", errno);
  if (!special) pending_.emplace_back(target, path);
  absl::Status status = produce([&](absl::string_view piece) {
    return WriteAll(fd, piece) ? absl::OkStatus() : FileError(path, "write", errno);
  });
  const bool lasting = kind_ == Kind::kLasting && !special;
  if (status.ok() && lasting && fsync(fd) != 0) status = FileError(path, "write", errno);
  if (close(fd) != 0) status.Update(FileError(path, "write", errno));
  return status;
}

absl::Status NewFiles::Commit() {
  while (!pending_.empty()) {
    const auto& [temporary, path] = pending_.back();
    if (std::rename(temporary.c_str(), path.c_str()) != 0) return FileError(path, "write", errno);
    if (kind_ == Kind::kLasting) SyncFolderOf(path);
    pending_.pop_back();
  }
  return absl::OkStatus();
}

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return FileError(path, "create the folder", error.value());
  if (!std::filesystem::is_directory(path, error))
    return FileError(path, "create the folder", ENOTDIR);
  return absl::OkStatus();
}

}  // namespace onepass
