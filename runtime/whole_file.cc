#include "runtime/whole_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"

namespace onepass {
namespace {

absl::Status ReadError(const std::string& path, int error) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read: ", std::strerror(error)));
}

}  // namespace

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (file == nullptr) return ReadError(path, errno);
  std::string text;
  char buffer[1 << 16];
  while (const size_t bytes = std::fread(buffer, 1, sizeof(buffer), file.get())) {
    text.append(buffer, bytes);
  }
  if (std::ferror(file.get()) != 0) return ReadError(path, errno);
  return text;
}

}  // namespace onepass
