#include "runtime/report_json.h"

#include <cmath>

#include "nlohmann/json.hpp"

namespace onepass {
namespace {

// Keeps the order in which keys were added.
using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json(nullptr);
}

// The same for a group: null, or what `to_json` makes of it.
template <typename T, typename ToJson>
Json OrNull(const std::optional<T>& value, ToJson to_json) {
  return value.has_value() ? to_json(*value) : Json(nullptr);
}

Json FiniteOrNull(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json DeviceJson(const DeviceReport& device) {
  return {{"name", device.name}, {"arch", device.arch}, {"simulated", device.simulated}};
}

Json LaunchJson(const LaunchReport& launch) {
  const LaunchShape& shape = launch.shape;
  return {{"kernel", launch.kernel},
          {"grid", shape.grid},
          {"block", shape.block},
          {"cluster", shape.cluster},
          {"shared_bytes", shape.shared_bytes},
          {"cooperative", shape.cooperative},
          {"registers", OrNull(launch.registers)},
          {"spill_bytes", OrNull(launch.spill_bytes)}};
}

Json PlanJson(const PlanReport& plan) {
  Json launches = Json::array();
  for (const LaunchReport& launch : plan.launches) launches.push_back(LaunchJson(launch));
  return {{"strategy", plan.strategy},
          {"geometry", plan.geometry},
          {"workspace_bytes", plan.workspace_bytes},
          {"launches", launches}};
}

Json TimeJson(const TimeReport& time) {
  return {{"codegen_us", OrNull(time.codegen_us)},
          {"compile_ms", OrNull(time.compile_ms)},
          {"load_us", OrNull(time.load_us)},
          {"launch_us", OrNull(time.launch_us)},
          {"predicted_us", OrNull(time.predicted_us)}};
}

Json TrafficJson(const TrafficReport& traffic) {
  return {{"dram_read_bytes", traffic.dram_read_bytes},
          {"dram_write_bytes", traffic.dram_write_bytes},
          {"minimum_bytes", traffic.minimum_bytes},
          {"ratio", OrNull(traffic.ratio)},
          {"l2_bytes", traffic.l2_bytes},
          {"sector_efficiency", OrNull(traffic.sector_efficiency)},
          {"bank_conflicts", traffic.bank_conflicts},
          {"warp_instructions", traffic.warp_instructions},
          {"predicted_dram_bytes", traffic.predicted_dram_bytes}};
}

Json BoundJson(const BoundReport& bound) {
  return {{"dram_us", OrNull(bound.dram_us)},
          {"l2_us", OrNull(bound.l2_us)},
          {"pipe_us", OrNull(bound.pipe_us)},
          {"bytes_in_flight_per_sm", OrNull(bound.bytes_in_flight_per_sm)}};
}

Json OutputJson(const OutputCheck& check) {
  Json worst = Json::array();
  for (const int64_t index : check.worst_index) worst.push_back(index);
  return {{"max_abs_error", OrNull(check.max_abs_error)},
          {"max_ulp_error", OrNull(check.max_ulp_error)},
          {"tolerance", FiniteOrNull(check.tolerance)},
          {"worst_index", worst},
          {"mismatches", check.mismatches}};
}

Json CheckJson(const CheckReport& check) {
  Json outputs = Json::object();
  for (const auto& [name, output] : check.outputs) outputs[name] = OutputJson(output);
  return {{"ok", check.ok}, {"outputs", outputs}};
}

Json SanitizerJson(const SanitizerReport& sanitizer) {
  return {{"enabled", sanitizer.enabled}, {"findings", sanitizer.findings}};
}

}  // namespace

std::string ToJson(const RunReport& report) {
  const Json json = {
      {"problem", report.problem},
      {"ok", report.ok()},
      {"exit", report.exit},
      {"error", OrNull(report.error)},
      {"device", OrNull(report.device, DeviceJson)},
      {"plan", OrNull(report.plan, PlanJson)},
      {"cache",
       report.cache.has_value() ? Json(std::string(ToString(*report.cache))) : Json(nullptr)},
      {"time", OrNull(report.time, TimeJson)},
      {"traffic", OrNull(report.traffic, TrafficJson)},
      {"bound", OrNull(report.bound, BoundJson)},
      {"check", OrNull(report.check, CheckJson)},
      {"sanitizer", OrNull(report.sanitizer, SanitizerJson)},
  };
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace onepass
