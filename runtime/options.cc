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

void Ignore(absl::string_view variable, absl::string_view value, absl::string_view why,
            Options& options) {
  options.warnings.push_back(absl::StrCat(variable, ": '", value, "' ", why, "; it is ignored"));
}

void ReadLimit(Options& options) {
  const std::string text = Variable("ONEPASS_CACHE_LIMIT");
  int64_t limit = 0;
  if (text.empty()) return;
  if (absl::SimpleAtoi(text, &limit) && limit >= 0) {
    options.cache_limit = limit;
  } else {
    Ignore("ONEPASS_CACHE_LIMIT", text, "is no number of bytes", options);
  }
}

void ReadLog(Options& options) {
  const std::string text = Variable("ONEPASS_LOG");
  if (text.empty()) return;
  if (text == "error" || text == "warning" || text == "info" || text == "debug") {
    options.log = text;
  } else {
    Ignore("ONEPASS_LOG", text, "is none of error, warning, info, debug", options);
  }
}

void ReadToolkit(Options& options) {
  const std::string text = Variable("CUDA_HOME");
  std::error_code error;
  if (text.empty() || std::filesystem::is_directory(text, error)) {
    options.toolkit.cuda_home = text;
  } else {
    Ignore("CUDA_HOME", text, "is no folder", options);
  }
  options.toolkit.toolkit_folder = ONEPASS_TOOLKIT_FOLDER;
}

}  // namespace

Options OptionsFromEnvironment() {
  Options options;
  options.cache_dir = CacheFolder();
  ReadLimit(options);
  if (std::string device = Variable("ONEPASS_DEVICE"); !device.empty()) options.device = device;
  ReadLog(options);
  ReadToolkit(options);
  return options;
}

}  // namespace onepass
