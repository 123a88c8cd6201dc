#include "runtime/cli/summary.h"

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace onepass::cli {
namespace {

RunReport Ran(const std::string& problem, int exit = 0) {
  RunReport report;
  report.problem = problem;
  report.exit = exit;
  report.cache = Tier::kMiss;
  report.time = TimeReport{.predicted_us = 2.0};
  report.traffic = TrafficReport{.dram_read_bytes = 100, .dram_write_bytes = 50};
  report.saved = SavedReport{
      .predicted_dram_bytes = 150, .by_persistence = 70, .by_fusion = 30, .microseconds = 0.5};
  return report;
}

TEST(SummaryTest, CountsByExitCodeAndSumsByOperator) {
  Summary summary;
  summary.Add(Ran("batch_norm.train f32 2x3x4x4"));
  summary.Add(Ran("batch_norm.train f16 2x3x4x4", 1));
  summary.Add(Ran("pointwise.fwd f32 8 act=relu"));
  RunReport wrong;
  wrong.problem = "nonsense";
  wrong.exit = 2;
  summary.Add(wrong);
  summary.SetDamagedEntries(5);
  EXPECT_EQ(summary.exit_code(), 1);
  EXPECT_EQ(nlohmann::json::parse(summary.ToJson()), nlohmann::json::parse(R"({"summary": {
    "cases": 4, "exit": 1, "exits": {"0": 2, "1": 1, "2": 1}, "cache": {"miss": 3},
    "damaged_entries_rebuilt": 5,
    "operators": {
      "batch_norm.train": {"count": 2, "predicted_us": 4.0, "dram_bytes": 300,
        "saved_by_persistence_bytes": 140, "saved_by_fusion_bytes": 60, "saved_us": 1.0},
      "pointwise.fwd": {"count": 1, "predicted_us": 2.0, "dram_bytes": 150,
        "saved_by_persistence_bytes": 70, "saved_by_fusion_bytes": 30, "saved_us": 0.5}}}})"));
}

TEST(SummaryTest, RealDevicesSumWhatWasPredicted) {
  Summary summary;
  RunReport report = Ran("pointwise.fwd f32 8");
  report.traffic.reset();
  report.saved->predicted_dram_bytes = 42;
  summary.Add(report);
  EXPECT_EQ(nlohmann::json::parse(
                summary.ToJson())["summary"]["operators"]["pointwise.fwd"]["dram_bytes"],
            42);
}

TEST(SummaryTest, DamageIsToldToPeopleToo) {
  Summary summary;
  summary.Add(Ran("pointwise.fwd f32 8"));
  EXPECT_EQ(summary.ToText().find("damaged"), std::string::npos);
  summary.SetDamagedEntries(2);
  EXPECT_NE(summary.ToText().find("damaged entries rebuilt: 2\n"), std::string::npos);
}

TEST(SummaryTest, NothingIsAllRight) {
  EXPECT_EQ(Summary().exit_code(), 0);
  EXPECT_EQ(nlohmann::json::parse(Summary().ToJson())["summary"]["cases"], 0);
}

}  // namespace
}  // namespace onepass::cli
