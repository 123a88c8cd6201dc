#include "bench/figures.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace onepass::bench {
namespace {

std::string Number(double value) {
  return absl::StrFormat("%.*f", value < 10 ? 2 : value < 100 ? 1 : 0, value);
}

std::string Row(const Figure& figure) {
  std::string row =
      absl::StrFormat("  %-84s %7s %-5s", figure.name, Number(figure.value), figure.unit);
  const auto target = [&](const char* words, double value) {
    absl::StrAppend(&row, words, Number(value), figure.missed() ? " MISSED" : " ok");
  };
  if (figure.limit.has_value()) target(" at most ", *figure.limit);
  if (figure.least.has_value()) target(" at least ", *figure.least);
  if (!figure.remark.empty()) absl::StrAppend(&row, "  (", figure.remark, ")");
  while (row.back() == ' ') row.pop_back();
  return row + "\n";
}

}  // namespace

Figures::Figures(bool echo, std::string machine) : echo_(echo), machine_(std::move(machine)) {
  if (echo) std::printf("%s\n", machine_.c_str());
}

void Figures::Add(Figure figure) {
  const bool head = figures_.empty() || figures_.back().group != figure.group;
  if (echo_) {
    if (head) std::printf("%s\n", figure.group.c_str());
    std::fputs(Row(figure).c_str(), stdout);
    std::fflush(stdout);
  }
  figures_.push_back(std::move(figure));
}

void Figures::Note(const std::string& text) {
  if (echo_) std::printf("  %s\n", text.c_str());
}

std::string Figures::Table() const {
  std::string table = absl::StrCat(machine_, "\n");
  const std::string* group = nullptr;
  for (const Figure& figure : figures_) {
    if (group == nullptr || *group != figure.group) absl::StrAppend(&table, figure.group, "\n");
    group = &figure.group;
    table += Row(figure);
  }
  return table;
}

std::string Figures::Json() const {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Figure& figure : figures_) {
    nlohmann::ordered_json row = {{"group", figure.group}, {"name", figure.name},
                                  {"value", figure.value}, {"unit", figure.unit},
                                  {"limit", nullptr},      {"least", nullptr},
                                  {"ok", !figure.missed()}};
    if (figure.limit.has_value()) row["limit"] = *figure.limit;
    if (figure.least.has_value()) row["least"] = *figure.least;
    if (!figure.remark.empty()) row["remark"] = figure.remark;
    rows.push_back(std::move(row));
  }
  return nlohmann::ordered_json({{"machine", machine_}, {"figures", rows}, {"missed", missed()}})
             .dump() +
         "\n";
}

int Figures::missed() const {
  return static_cast<int>(std::count_if(figures_.begin(), figures_.end(),
                                        [](const Figure& figure) { return figure.missed(); }));
}

}  // namespace onepass::bench
