#include "runtime/options.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace onepass {
namespace {

// "" where the variable is unset; an empty one counts as unset.
std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string CacheFolder() {
  if (std::string own = Variable("ONEPASS_CACHE_DIR"); !own.empty()) {
    // The cache refuses relative paths, which would be another folder in each working directory.
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(own, error);
    return error ? own : absolute.string();
  }
  if (const std::string xdg = Variable("XDG_CACHE_HOME"); !xdg.empty() && xdg[0] == '/') {
    return absl::StrCat(xdg, "/onepass");
  }
  if (const std::string home = Variable("HOME"); !home.empty() && home[0] == '/') {
    return absl::StrCat(home, "/.cache/onepass");
  }
  return "";
}

}  // namespace

Options OptionsFromEnvironment() {
  Options options;
  options.cache_dir = CacheFolder();
  int64_t limit = 0;
  if (absl::SimpleAtoi(Variable("ONEPASS_CACHE_LIMIT"), &limit) && limit >= 0)
    options.cache_limit = limit;
  if (std::string device = Variable("ONEPASS_DEVICE"); !device.empty()) options.device = device;
  if (std::string log = Variable("ONEPASS_LOG"); !log.empty()) options.log = log;
  options.toolkit.cuda_home = Variable("CUDA_HOME");
  options.toolkit.toolkit_folder = ONEPASS_TOOLKIT_FOLDER;
  return options;
}

}  // namespace onepass
