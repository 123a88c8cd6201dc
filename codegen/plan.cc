#include "codegen/plan.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "codegen/strategy.h"

namespace onepass {
namespace {

struct Field {
  absl::string_view name;
  int Plan::*member;
};

constexpr Field kFields[] = {
    {"threads", &Plan::threads},
    {"vector", &Plan::vector},
    {"register_vectors", &Plan::register_vectors},
    {"shared_vectors", &Plan::shared_vectors},
    {"write_vectors", &Plan::write_vectors},
    {"tile_vectors", &Plan::tile_vectors},
    {"split", &Plan::split},
    {"slabs", &Plan::slabs},
    {"blocks_per_sm", &Plan::blocks_per_sm},
};

const Field* FindField(absl::string_view name) {
  for (const Field& field : kFields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

// The table's own text, so that a parsed plan does not point into its input.
absl::string_view StrategyName(absl::string_view name) {
  for (const Strategy& strategy : Strategies()) {
    if (strategy.name == name) return strategy.name;
  }
  return "";
}

}  // namespace

std::string ToString(const Plan& plan) {
  std::string text(plan.strategy);
  for (const Field& field : kFields)
    absl::StrAppend(&text, " ", field.name, "=", plan.*field.member);
  return text;
}

absl::StatusOr<Plan> ParsePlan(absl::string_view text) {
  const std::vector<absl::string_view> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  Plan plan;
  if (!words.empty()) plan.strategy = StrategyName(words[0]);
  if (plan.strategy.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("plan: no strategy in \"", text, "\""));
  }
  for (size_t i = 1; i < words.size(); ++i) {
    const std::vector<absl::string_view> pair = absl::StrSplit(words[i], absl::MaxSplits('=', 1));
    const Field* field = FindField(pair[0]);
    int value = 0;
    if (field == nullptr || pair.size() != 2 || !absl::SimpleAtoi(pair[1], &value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("plan: \"", words[i], "\" is not a field with a number"));
    }
    plan.*field->member = value;
  }
  return plan;
}

}  // namespace onepass
