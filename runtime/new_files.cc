#include "runtime/new_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

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

bool IsSpecial(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

NewFiles::~NewFiles() {
  for (const auto& [temporary, path] : pending_) unlink(temporary.c_str());
}

absl::Status NewFiles::Write(const std::string& path, absl::Span<const absl::string_view> pieces) {
  const bool special = IsSpecial(path);
  const std::string target = special ? path : absl::StrCat(path, ".new-", getpid());
  const int fd = open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return FileError(path, "create", errno);
  if (!special) pending_.emplace_back(target, path);
  int error = 0;
  for (const absl::string_view piece : pieces) {
    if (error == 0 && !WriteAll(fd, piece)) error = errno;
  }
  if (close(fd) != 0 && error == 0) error = errno;
  return error == 0 ? absl::OkStatus() : FileError(path, "write", error);
}

absl::Status NewFiles::Commit() {
  while (!pending_.empty()) {
    const auto& [temporary, path] = pending_.back();
    if (std::rename(temporary.c_str(), path.c_str()) != 0) return FileError(path, "write", errno);
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
