// The end of a batch: which layers of a network are worth the effort.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runtime/run_report.h"

namespace onepass::cli {

class Summary {
 public:
  // Sums over one operator's cases that ran.
  struct Sums {
    int64_t count = 0;
    double predicted_us = 0;
    int64_t dram_bytes = 0;  // counted, or predicted on a real device
    SavedReport saved;
  };

  void Add(const RunReport& report);
  // What the cache found damaged during the whole batch.
  void SetDamagedEntries(int64_t count) { damaged_entries_ = count; }

  // The first of 1, 6, 5, 4, 3, 2 that occurred, else 0.
  int exit_code() const { return exit_code_; }

  // {"summary": {...}} on one line; and a table.
  std::string ToJson() const;
  std::string ToText() const;

 private:
  int exit_code_ = 0;
  int64_t cases_ = 0;
  int64_t damaged_entries_ = 0;
  std::map<int, int64_t> by_exit_code_;
  std::map<std::string, int64_t> by_cache_;
  std::map<std::string, Sums> by_operator_;
};

}  // namespace onepass::cli
