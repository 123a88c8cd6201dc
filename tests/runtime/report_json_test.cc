#include "runtime/report_json.h"

#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace onepass {
namespace {

RunReport Whole() {
  RunReport report;
  report.problem = "pointwise.fwd f32 8x16 act=relu";
  report.device = DeviceReport{"sim:h200", "sm_90", true};
  report.plan =
      PlanReport{.strategy = "flat", .geometry = "flat", .text = "", .workspace_bytes = 64};
  report.plan->launches.push_back({.kernel = "k",
                                   .shape = {.grid = {2, 1, 1}, .block = {128, 1, 1}},
                                   .registers = 16,
                                   .spill_bytes = 0});
  report.cache = Tier::kDisk;
  report.time =
      TimeReport{.codegen_us = 12.5, .compile_ms = 0.0, .load_us = 0.1, .predicted_us = 2.5};
  report.traffic = TrafficReport{.dram_read_bytes = 512,
                                 .dram_write_bytes = 512,
                                 .minimum_bytes = 1024,
                                 .ratio = 1.0,
                                 .l2_bytes = 1024,
                                 .sector_efficiency = 1.0,
                                 .warp_instructions = 40,
                                 .predicted_dram_bytes = 1024};
  report.bound = BoundReport{.dram_us = 0.5, .l2_us = 0.25};
  report.check = CheckReport{};
  OutputCheck y;
  y.max_abs_error = 1e-7;
  y.max_ulp_error = 1.0;
  y.tolerance = 1e-6;
  y.worst_index = {3, 4};
  report.check->outputs.emplace_back("y", y);
  report.sanitizer = SanitizerReport{.enabled = true, .findings = {}};
  return report;
}

TEST(ReportJsonTest, WholeReportIsTheContracts) {
  EXPECT_EQ(
      ToJson(Whole()),
      R"({"problem":"pointwise.fwd f32 8x16 act=relu","ok":true,"exit":0,"error":null,)"
      R"("device":{"name":"sim:h200","arch":"sm_90","simulated":true},)"
      R"("plan":{"strategy":"flat","geometry":"flat","workspace_bytes":64,"launches":[)"
      R"({"kernel":"k","grid":[2,1,1],"block":[128,1,1],"cluster":[1,1,1],"shared_bytes":0,)"
      R"("cooperative":false,"registers":16,"spill_bytes":0}]},"cache":"disk",)"
      R"("time":{"codegen_us":12.5,"compile_ms":0.0,"load_us":0.1,"launch_us":null,"predicted_us":2.5},)"
      R"("traffic":{"dram_read_bytes":512,"dram_write_bytes":512,"minimum_bytes":1024,"ratio":1.0,)"
      R"("l2_bytes":1024,"sector_efficiency":1.0,"bank_conflicts":0,"warp_instructions":40,)"
      R"("predicted_dram_bytes":1024},)"
      R"("bound":{"dram_us":0.5,"l2_us":0.25,"pipe_us":null,"bytes_in_flight_per_sm":null},)"
      R"("check":{"ok":true,"outputs":{"y":{"max_abs_error":1e-07,"max_ulp_error":1.0,)"
      R"("tolerance":1e-06,"worst_index":[3,4],"mismatches":0}}},)"
      R"("sanitizer":{"enabled":true,"findings":[]}})");
}

TEST(ReportJsonTest, EveryKeyIsThereWhenNothingIsKnown) {
  RunReport report;
  report.problem = "nonsense";
  report.exit = 2;
  report.error = "what is that";
  EXPECT_EQ(ToJson(report),
            R"({"problem":"nonsense","ok":false,"exit":2,"error":"what is that","device":null,)"
            R"("plan":null,"cache":null,"time":null,"traffic":null,"bound":null,"check":null,)"
            R"("sanitizer":null})");
}

TEST(ReportJsonTest, NumbersRoundTripInTheirShortestForm) {
  RunReport report = Whole();
  for (const double value : {0.1, 1.0 / 3, 1e-5, 123456789.123, 5e-324}) {
    report.time->predicted_us = value;
    EXPECT_EQ(nlohmann::json::parse(ToJson(report))["time"]["predicted_us"].get<double>(), value);
  }
}

TEST(ReportJsonTest, WhatIsNotFiniteIsNullWithMismatchesBesideIt) {
  RunReport report = Whole();
  OutputCheck& y = report.check->outputs[0].second;
  y.ok = false;
  y.max_abs_error.reset();
  y.max_ulp_error.reset();
  y.tolerance = INFINITY;
  y.mismatches = 7;
  const auto json = nlohmann::json::parse(ToJson(report))["check"]["outputs"]["y"];
  EXPECT_TRUE(json["max_abs_error"].is_null());
  EXPECT_TRUE(json["tolerance"].is_null());
  EXPECT_EQ(json["mismatches"], 7);
}

TEST(ReportJsonTest, AnyBytesGiveOneLineOfJson) {
  RunReport report;
  report.problem = "a\nb\xff\"\\";
  report.error = std::string("\0\x1b", 2);
  const std::string text = ToJson(report);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_TRUE(nlohmann::json::accept(text));
}

}  // namespace
}  // namespace onepass
