#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "cache/disk_store.h"
#include "runtime/cli/command.h"
#include "runtime/cli/report_text.h"
#include "runtime/exit_code.h"
#include "runtime/options.h"

namespace onepass::cli {
namespace {

int PrintStats(cache::DiskStore& store, const Options& environment) {
  const cache::Stats stats = store.GetStats();
  absl::PrintF("folder   %s\nentries  %d\nbytes    %d (%s)\nlimit    %d (%s)\n",
               environment.cache_dir, stats.entries, stats.bytes, BytesText(stats.bytes),
               environment.cache_limit, BytesText(environment.cache_limit));
  return kExitOk;
}

int PrintList(cache::DiskStore& store, const Options&) {
  std::vector<cache::Listed> entries = store.List();
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.last_used > b.last_used; });
  for (const cache::Listed& entry : entries) {
    absl::PrintF("%s %9d  %s\n", entry.digest.ToHex(), entry.bytes,
                 absl::FormatTime("%Y-%m-%d %H:%M:%S", entry.last_used, absl::LocalTimeZone()));
  }
  return kExitOk;
}

int Verify(cache::DiskStore& store, const Options&) {
  const cache::Verified verified = store.Verify();
  absl::PrintF("good     %d\ndamaged  %d\n", verified.good, verified.damaged);
  if (verified.damaged == 0) return kExitOk;
  return Complain(absl::StrCat("cache verify: ", verified.damaged,
                               " damaged entries; each is rebuilt when it is next needed"),
                  kExitCheckFailed);
}

int Clear(cache::DiskStore& store, const Options&) {
  const int64_t entries = store.GetStats().entries;
  store.Clear();
  absl::PrintF("removed  %d\n", entries - store.GetStats().entries);
  return kExitOk;
}

struct Verb {
  absl::string_view name;
  int (*run)(cache::DiskStore& store, const Options& environment);
};
constexpr Verb kVerbs[] = {
    {"stats", PrintStats}, {"list", PrintList}, {"verify", Verify}, {"clear", Clear}};

int RunCache(const Arguments& arguments) {
  const std::string word = arguments.words().empty() ? "" : arguments.words()[0];
  const auto verb = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                 [&](const Verb& v) { return v.name == word; });
  if (arguments.words().size() != 1 || verb == std::end(kVerbs)) {
    return Complain(
        absl::StrCat("cache: '", arguments.Line(), "' is none of stats, list, verify, clear"),
        kExitInvalid);
  }
  const Options environment = OptionsFromEnvironment();
  cache::DiskStore store(
      {.folder = environment.cache_dir, .limit_bytes = environment.cache_limit, .warn = {}});
  if (!store.usable().ok()) {
    return Complain(
        absl::StrCat("cache folder '", environment.cache_dir, "': ", store.usable().message()),
        kExitOther);
  }
  return verb->run(store, environment);
}

}  // namespace

const Command kCacheCommand = {
    "cache", "stats|list|verify|clear", "look after the folder of compiled kernels", {}, RunCache};

}  // namespace onepass::cli
