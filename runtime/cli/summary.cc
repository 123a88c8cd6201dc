#include "runtime/cli/summary.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "runtime/cli/report_text.h"
#include "runtime/exit_code.h"

namespace onepass::cli {

using Json = nlohmann::ordered_json;

void Summary::Add(const RunReport& report) {
  ++cases_;
  ++by_exit_code_[report.exit];
  exit_code_ = WorstOf(exit_code_, report.exit);
  if (report.cache.has_value()) ++by_cache_[std::string(onepass::ToString(*report.cache))];
  if (!report.saved.has_value()) return;
  Sums& sums = by_operator_[report.problem.substr(0, report.problem.find(' '))];
  ++sums.count;
  sums.predicted_us += report.time->predicted_us.value_or(0);
  sums.dram_bytes += report.traffic.has_value() ? report.traffic->dram_bytes()
                                                : report.saved->predicted_dram_bytes;
  sums.saved.by_persistence += report.saved->by_persistence;
  sums.saved.by_fusion += report.saved->by_fusion;
  sums.saved.microseconds += report.saved->microseconds;
}

std::string Summary::ToJson() const {
  Json exits = Json::object(), caches = Json::object(), operators = Json::object();
  for (const auto& [code, count] : by_exit_code_) exits[absl::StrCat(code)] = count;
  for (const auto& [tier, count] : by_cache_) caches[tier] = count;
  for (const auto& [name, sums] : by_operator_) {
    operators[name] = {{"count", sums.count},
                       {"predicted_us", sums.predicted_us},
                       {"dram_bytes", sums.dram_bytes},
                       {"saved_by_persistence_bytes", sums.saved.by_persistence},
                       {"saved_by_fusion_bytes", sums.saved.by_fusion},
                       {"saved_us", sums.saved.microseconds}};
  }
  const Json summary = {{"cases", cases_},
                        {"exit", exit_code_},
                        {"exits", exits},
                        {"cache", caches},
                        {"damaged_entries_rebuilt", damaged_entries_},
                        {"operators", operators}};
  return Json({{"summary", summary}}).dump();
}

std::string Summary::ToText() const {
  if (cases_ == 0) return "0 cases\n";
  const auto counts = absl::PairFormatter(": ");
  std::string text = absl::StrFormat("\n%d cases; by exit code: %s", cases_,
                                     absl::StrJoin(by_exit_code_, ", ", counts));
  if (!by_cache_.empty())
    absl::StrAppend(&text, "; by cache: ", absl::StrJoin(by_cache_, ", ", counts));
  text += "\n";
  if (damaged_entries_ > 0)
    absl::StrAppend(&text, "damaged entries rebuilt: ", damaged_entries_, "\n");
  if (by_operator_.empty()) return text;
  absl::StrAppendFormat(&text, "%-20s %6s %14s %12s %22s %18s %12s\n", "operator", "number",
                        "predicted us", "DRAM", "saved by persistence", "saved by fusion",
                        "saved us");
  for (const auto& [name, sums] : by_operator_) {
    absl::StrAppendFormat(&text, "%-20s %6d %14.1f %12s %22s %18s %12.1f\n", name, sums.count,
                          sums.predicted_us, BytesText(sums.dram_bytes),
                          BytesText(sums.saved.by_persistence), BytesText(sums.saved.by_fusion),
                          sums.saved.microseconds);
  }
  return text;
}

}  // namespace onepass::cli
