// Figures: what was measured, beside what was to be reached.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace onepass::bench {

struct Figure {
  std::string group;  // "emission"
  std::string name;
  double value = 0;
  std::string unit;
  std::optional<double> limit = std::nullopt;  // at most this, in the same unit
  std::optional<double> least = std::nullopt;  // at least this
  std::string remark = "";                     // for people, behind the number

  bool missed() const { return value > limit.value_or(value) || value < least.value_or(value); }
};

class Figures {
 public:
  // `echo` prints each figure as it comes in, as one row of a table. `machine` is where they were
  // measured, one line.
  Figures(bool echo, std::string machine);

  void Add(Figure figure);
  // A line for people, which is no number.
  void Note(const std::string& text);

  // One row a figure with the heads of the groups; or one object with an array, on one line.
  std::string Table() const;
  std::string Json() const;

  int missed() const;

 private:
  bool echo_;
  std::string machine_;
  std::vector<Figure> figures_;
};

}  // namespace onepass::bench
