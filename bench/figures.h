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

  bool missed() const { return limit.has_value() && value > *limit; }
};

class Figures {
 public:
  // `echo` prints each figure as it comes in, as one row of a table.
  explicit Figures(bool echo) : echo_(echo) {}

  void Add(Figure figure);
  // A line for people, which is no number.
  void Note(const std::string& text);

  // One row a figure with the heads of the groups; or one object with an array, on one line.
  std::string Table() const;
  std::string Json() const;

  int missed() const;

 private:
  bool echo_;
  std::vector<Figure> figures_;
};

}  // namespace onepass::bench
