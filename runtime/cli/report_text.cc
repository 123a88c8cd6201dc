#include "runtime/cli/report_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace onepass::cli {
namespace {

std::string NumberText(const std::optional<double>& value, absl::string_view unit) {
  return value.has_value() ? absl::StrFormat("%.4g %s", *value, unit) : absl::StrCat("? ", unit);
}

void Row(std::string& text, absl::string_view name, absl::string_view value) {
  absl::StrAppendFormat(&text, "  %-17s%s\n", name, value);
}

std::string LaunchText(const LaunchReport& launch) {
  const LaunchShape& shape = launch.shape;
  std::string text =
      absl::StrFormat("%s, grid %s, block %s", launch.kernel, absl::StrJoin(shape.grid, "x"),
                      absl::StrJoin(shape.block, "x"));
  if (shape.shared_bytes > 0) absl::StrAppend(&text, ", ", shape.shared_bytes, " bytes shared");
  if (shape.cooperative) absl::StrAppend(&text, ", cooperative");
  if (launch.registers.has_value()) absl::StrAppend(&text, ", ", *launch.registers, " registers");
  if (launch.spill_bytes.value_or(0) > 0)
    absl::StrAppend(&text, ", ", *launch.spill_bytes, " bytes spilled");
  return text;
}

std::string CacheText(Tier tier, const TimeReport& time) {
  if (tier == Tier::kNone) return "none: nothing to launch";
  return absl::StrFormat("%s: source %s, compile %s, load %s", std::string(ToString(tier)),
                         NumberText(time.codegen_us, "us"), NumberText(time.compile_ms, "ms"),
                         NumberText(time.load_us, "us"));
}

std::string TimeText(const TimeReport& time, const BoundReport& bound) {
  std::string text = time.launch_us.has_value()
                         ? absl::StrCat(NumberText(time.launch_us, "us"), " measured, ")
                         : "";
  absl::StrAppend(&text, NumberText(time.predicted_us, "us"), " predicted (DRAM ",
                  NumberText(bound.dram_us, "us"), ", L2 ", NumberText(bound.l2_us, "us"), ")");
  return text;
}

std::string TrafficText(const TrafficReport& traffic) {
  std::string text = absl::StrFormat("%s read, %s written", BytesText(traffic.dram_read_bytes),
                                     BytesText(traffic.dram_write_bytes));
  if (traffic.ratio.has_value()) {
    absl::StrAppendFormat(&text, ": %.3f times the minimum of %s (%s predicted)", *traffic.ratio,
                          BytesText(traffic.minimum_bytes),
                          BytesText(traffic.predicted_dram_bytes));
  }
  return text;
}

std::string OutputText(const OutputCheck& check) {
  if (!check.ok) {
    return absl::StrFormat("WRONG: %d elements, the worst at [%s]", check.mismatches,
                           absl::StrJoin(check.worst_index, ","));
  }
  if (!check.max_abs_error.has_value()) return "right";
  return absl::StrFormat("right: largest error %.3g (%s); at [%s] %.3g of the %.3g allowed",
                         *check.max_abs_error, NumberText(check.max_ulp_error, "ulp"),
                         absl::StrJoin(check.worst_index, ","), check.worst_error.value_or(0),
                         check.tolerance);
}

std::string VerdictText(const RunReport& report) {
  if (!report.ok())
    return absl::StrCat("FAILED (exit ", report.exit, "): ", report.error.value_or(""));
  return report.check.has_value() ? "all right" : "ran, not checked";
}

}  // namespace

std::string BytesText(int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes >= 1'000'000'000) return absl::StrFormat("%.2f GB", value * 1e-9);
  if (bytes >= 1'000'000) return absl::StrFormat("%.2f MB", value * 1e-6);
  if (bytes >= 10'000) return absl::StrFormat("%.1f KB", value * 1e-3);
  return absl::StrCat(bytes, " bytes");
}

std::string ToText(const RunReport& report) {
  std::string text = absl::StrCat(report.problem, "\n");
  if (report.device.has_value())
    Row(text, "device", absl::StrCat(report.device->name, ", ", report.device->arch));
  if (report.plan.has_value()) {
    Row(text, "plan", absl::StrCat(report.plan->text, " (", report.plan->geometry, ")"));
    for (const LaunchReport& launch : report.plan->launches)
      Row(text, "launch", LaunchText(launch));
  }
  if (report.cache.has_value() && report.time.has_value())
    Row(text, "cache", CacheText(*report.cache, *report.time));
  if (report.damaged_entries > 0)
    Row(text, "", absl::StrCat("damaged entries rebuilt: ", report.damaged_entries));
  if (report.plan.has_value() && report.bound.has_value())
    Row(text, "time", TimeText(*report.time, *report.bound));
  if (report.plan.has_value() && report.traffic.has_value())
    Row(text, "traffic", TrafficText(*report.traffic));
  if (report.check.has_value()) {
    for (const auto& [name, check] : report.check->outputs) Row(text, name, OutputText(check));
  }
  if (report.sanitizer.has_value()) {
    for (const std::string& finding : report.sanitizer->findings) Row(text, "finding", finding);
  }
  Row(text, "result", VerdictText(report));
  return text;
}

std::string ToTextLine(const RunReport& report) {
  const std::string verdict = report.ok() ? "ok" : absl::StrCat("exit ", report.exit);
  const std::string ratio = report.traffic.has_value() && report.traffic->ratio.has_value()
                                ? absl::StrFormat("%.3fx", *report.traffic->ratio)
                                : "-";
  return absl::StrFormat(
      "%-7s %-18s %-7s %8s %12s  %s", verdict,
      report.plan.has_value() ? report.plan->strategy : "-",
      report.cache.has_value() ? std::string(ToString(*report.cache)) : "-", ratio,
      report.time.has_value() ? NumberText(report.time->predicted_us, "us") : "-", report.problem);
}

}  // namespace onepass::cli
