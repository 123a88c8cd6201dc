#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "cache/archive.h"
#include "cache/disk_store.h"
#include "runtime/cli/command.h"
#include "runtime/cli/environment.h"
#include "runtime/cli/report_text.h"
#include "runtime/exit_code.h"
#include "runtime/new_files.h"
#include "runtime/whole_file.h"

namespace onepass::cli {
namespace {

struct Call {
  const Options& environment;
  std::string file;  // of export and import
};

int PrintStats(cache::DiskStore& store, const Call& call) {
  const cache::Stats stats = store.GetStats();
  absl::PrintF("folder   %s\nentries  %d\nbytes    %d (%s)\nlimit    %d (%s)\n",
               call.environment.cache_dir, stats.entries, stats.bytes, BytesText(stats.bytes),
               call.environment.cache_limit, BytesText(call.environment.cache_limit));
  return kExitOk;
}

int PrintList(cache::DiskStore& store, const Call&) {
  std::vector<cache::Listed> entries = store.List();
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.last_used > b.last_used; });
  for (const cache::Listed& entry : entries) {
    absl::PrintF("%s %9d  %s\n", entry.digest.ToHex(), entry.bytes,
                 absl::FormatTime("%Y-%m-%d %H:%M:%S", entry.last_used, absl::LocalTimeZone()));
  }
  return kExitOk;
}

int Verify(cache::DiskStore& store, const Call&) {
  using Flaw = cache::DiskStore::Flaw;
  const cache::DiskStore::Examined examined = store.Examine();
  const auto count = [&](Flaw flaw) {
    return std::count_if(examined.flawed.begin(), examined.flawed.end(),
                         [&](const auto& row) { return row.flaw == flaw; });
  };
  absl::PrintF("good     %d\ndamaged  %d\nmisnamed %d\nno file  %d\nunreadable %d\n", examined.good,
               count(Flaw::kDamaged), count(Flaw::kMisnamed), count(Flaw::kNotAFile),
               count(Flaw::kUnreadable));
  for (const cache::DiskStore::Flawed& flawed : examined.flawed) {
    absl::PrintF("%s: %s\n", OneLine(flawed.path), OneLine(flawed.reason));
  }
  if (examined.flawed.empty()) return kExitOk;
  return Complain(
      absl::StrCat("cache verify: ", examined.flawed.size(),
                   " entries are no good; 'onepass cache gc' removes those that it may remove"),
      kExitCheckFailed);
}

int Collect(cache::DiskStore& store, const Call& call) {
  const cache::DiskStore::Collected removed = store.Collect();
  const cache::Stats left = store.GetStats();
  absl::PrintF("damaged  %d\nleftover %d\nevicted  %d\nfreed    %d (%s)\n", removed.flawed,
               removed.left_over, removed.evicted, removed.bytes, BytesText(removed.bytes));
  absl::PrintF("entries  %d\nbytes    %d (%s)\nlimit    %d (%s)\n", left.entries, left.bytes,
               BytesText(left.bytes), call.environment.cache_limit,
               BytesText(call.environment.cache_limit));
  if (removed.failed == 0) return kExitOk;
  return Complain(absl::StrCat("cache gc: ", removed.failed, " files cannot be removed from '",
                               call.environment.cache_dir, "'"),
                  kExitOther);
}

int Clear(cache::DiskStore& store, const Call&) {
  const int64_t entries = store.GetStats().entries;
  store.Clear();
  const int64_t left = store.GetStats().entries;
  absl::PrintF("removed  %d\n", entries - left);
  if (left == 0 || store.writable().ok()) return kExitOk;
  return Complain(absl::StrCat("cache clear: ", store.writable().message()), kExitOther);
}

// Oldest first, so that an import leaves the same order of use.
std::vector<cache::Listed> ByAge(cache::DiskStore& store) {
  std::vector<cache::Listed> entries = store.List();
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.last_used < b.last_used; });
  return entries;
}

int Export(cache::DiskStore& store, const Call& call) {
  int64_t exported = 0, skipped = 0;
  NewFiles files(NewFiles::Kind::kLasting);
  absl::Status status = files.Stream(call.file, [&](NewFiles::Sink sink) {
    absl::Status written = sink(cache::ArchiveHeader());
    for (const cache::Listed& listed : ByAge(store)) {
      if (!written.ok()) return written;
      const std::optional<cache::Entry> entry = store.Read(listed.digest);
      if (!entry.has_value() || cache::Digest::Of(entry->preimage) != listed.digest) {
        ++skipped;
        continue;
      }
      ++exported;
      written = sink(cache::SerializeEntry(entry->preimage, entry->payload));
    }
    return written.ok() ? sink(cache::ArchiveTrailer(exported)) : written;
  });
  if (status.ok()) status = files.Commit();
  if (!status.ok())
    return Complain(absl::Status(status.code(), absl::StrCat("cache export: ", status.message())));
  // An archive that goes to standard output must stay alone there.
  absl::FPrintF(absl::StartsWith(call.file, "/dev/") ? stderr : stdout,
                "exported %d\nskipped  %d\n", exported, skipped);
  return kExitOk;
}

int Import(cache::DiskStore& store, const Call& call) {
  const auto refuse = [](const absl::Status& status, absl::string_view file) {
    return Complain(
        absl::Status(status.code(), absl::StrCat("cache import: ", file, status.message())));
  };
  const absl::StatusOr<std::string> bytes = ReadWholeFile(call.file);
  if (!bytes.ok()) return refuse(bytes.status(), "");
  const auto tally = cache::ReadArchive(*bytes, [&](const cache::EntryView& entry) {
    store.Put(cache::Digest::Of(entry.preimage), entry.preimage, entry.payload);
  });
  if (!tally.ok()) return refuse(tally.status(), call.file + " ");
  const cache::Stats stats = store.GetStats();
  absl::PrintF("imported %d\nrefused  %d\nnot kept %d\nevicted  %d\n", stats.puts, tally->refused,
               stats.put_failures, stats.evictions);
  if (tally->refused > 0 || !tally->complete) {
    return Complain(absl::StrCat("cache import: ", call.file, ": ", tally->refused,
                                 " entries are damaged or missing",
                                 tally->complete ? "" : ", and the archive is cut short"),
                    kExitCheckFailed);
  }
  if (stats.put_failures == 0) return kExitOk;
  return Complain(absl::StrCat("cache import: ", stats.put_failures, " entries cannot be kept in '",
                               call.environment.cache_dir, "'"),
                  kExitOther);
}

struct Verb {
  absl::string_view name;
  bool takes_file;
  int (*run)(cache::DiskStore& store, const Call& call);
};
constexpr Verb kVerbs[] = {{"stats", false, PrintStats}, {"list", false, PrintList},
                           {"verify", false, Verify},    {"gc", false, Collect},
                           {"clear", false, Clear},      {"export", true, Export},
                           {"import", true, Import}};

int RunCache(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.words();
  const std::string word = words.empty() ? "" : words[0];
  const auto verb = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                 [&](const Verb& v) { return v.name == word; });
  if (verb == std::end(kVerbs)) {
    return Complain(absl::StrCat("cache: '", arguments.Line(), "' is none of ",
                                 absl::StrJoin(kVerbs, ", ",
                                               [](std::string* out, const Verb& v) {
                                                 absl::StrAppend(out, v.name);
                                               })),
                    kExitInvalid);
  }
  if (words.size() != (verb->takes_file ? 2u : 1u)) {
    return Complain(
        absl::StrCat("cache ", word, verb->takes_file ? " takes one FILE" : " takes no words",
                     ": '", arguments.Line(), "'"),
        kExitInvalid);
  }
  const Options& environment = Environment();
  cache::DiskStore store(
      {.folder = environment.cache_dir, .limit_bytes = environment.cache_limit, .warn = {}});
  if (!store.usable().ok()) {
    return Complain(
        absl::StrCat("cache folder '", environment.cache_dir, "': ", store.usable().message()),
        kExitOther);
  }
  return verb->run(store, {.environment = environment, .file = verb->takes_file ? words[1] : ""});
}

}  // namespace

const Command kCacheCommand = {"cache",
                               "stats|list|verify|gc|clear|export FILE|import FILE",
                               "look after the folder of compiled kernels",
                               {},
                               RunCache};

}  // namespace onepass::cli
