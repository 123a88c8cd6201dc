#include "runtime/sim/finding.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace onepass::sim {

std::string_view NameOf(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::kFault:
      return "fault";
    case Finding::Kind::kOutOfBounds:
      return "out of bounds";
    case Finding::Kind::kMisaligned:
      return "misaligned";
    case Finding::Kind::kDeadlock:
      return "deadlock";
    case Finding::Kind::kBarrierDivergence:
      return "barrier divergence";
    case Finding::Kind::kUninitialisedRead:
      return "uninitialised read";
    case Finding::Kind::kSharedRace:
      return "shared race";
    case Finding::Kind::kGlobalRace:
      return "global race";
    case Finding::Kind::kLaneMask:
      return "lane mask";
  }
  return "";
}

void Findings::Add(Finding::Kind kind, const std::string& kernel, uint64_t a, uint64_t b,
                   const std::function<std::string()>& describe) {
  const auto [place, is_new] = place_.try_emplace(Key{kind, kernel, a, b}, found_.size());
  if (!is_new) {
    if (place->second < found_.size()) ++found_[place->second].times;
  } else if (found_.size() < kMost) {
    found_.push_back({{kind, kernel, describe()}});
  } else {
    place->second = kMost;
  }
}

std::vector<Finding> Findings::Take() {
  std::vector<Finding> findings;
  for (Counted& counted : found_) {
    if (counted.times > 1) {
      absl::StrAppend(&counted.finding.message, "; seen ", counted.times, " times");
    }
    findings.push_back(std::move(counted.finding));
  }
  found_.clear();
  place_.clear();
  return findings;
}

}  // namespace onepass::sim
