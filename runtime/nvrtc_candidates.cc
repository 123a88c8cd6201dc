#include "runtime/nvrtc_candidates.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace onepass {
namespace {

// By the library's own name, newest first. The bare libnvrtc.so is a link to one of them.
constexpr absl::string_view kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};

void AppendThoseIn(const std::string& root, std::vector<std::string>& candidates) {
  for (absl::string_view name : kNames) {
    for (absl::string_view folder : {"lib64", "lib", "targets/x86_64-linux/lib"}) {
      std::string path = absl::StrCat(root, "/", folder, "/", name);
      std::error_code error;
      if (std::filesystem::exists(path, error)) candidates.push_back(std::move(path));
    }
  }
}

// The folders inside `parent` whose name begins with `prefix`, in descending order of name.
std::vector<std::string> FoldersIn(const std::string& parent, absl::string_view prefix) {
  std::vector<std::string> folders;
  std::error_code error;
  std::filesystem::directory_iterator it(parent, error);
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    if (absl::StartsWith(it->path().filename().string(), prefix)) {
      folders.push_back(it->path().string());
    }
  }
  std::sort(folders.begin(), folders.end(), std::greater<>());
  return folders;
}

}  // namespace

std::vector<std::string> NvrtcCandidates(const ToolkitPaths& paths) {
  std::vector<std::string> candidates;
  if (!paths.cuda_home.empty()) AppendThoseIn(paths.cuda_home, candidates);
  if (!paths.toolkit_folder.empty()) {
    for (const std::string& wheel : FoldersIn(absl::StrCat(paths.toolkit_folder, "/nvidia"), "")) {
      AppendThoseIn(wheel, candidates);
    }
  }
  for (absl::string_view name : kNames) candidates.emplace_back(name);
  for (const std::string& toolkit : FoldersIn("/usr/local", "cuda")) {
    AppendThoseIn(toolkit, candidates);
  }
  return candidates;
}

}  // namespace onepass
