#include <cmath>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "codegen/number_text.h"
#include "runtime/reference/generate.h"

namespace onepass {

namespace {

struct DataForm {
  absl::string_view name;
  DataSpec::Kind kind;
  absl::string_view parameters;  // as in messages
  size_t count;
};

constexpr DataForm kForms[] = {
    {"normal", DataSpec::Kind::kNormal, "normal:MEAN,STD", 2},
    {"uniform", DataSpec::Kind::kUniform, "uniform:LO,HI", 2},
    {"constant", DataSpec::Kind::kConstant, "constant:V", 1},
    {"special", DataSpec::Kind::kSpecial, "special", 0},
};

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("data: ", parts...));
}

absl::Status CheckValues(const DataSpec& data) {
  if (data.kind == DataSpec::Kind::kNormal && !(data.b >= 0))
    return Invalid("STD is ", PrintNumber(data.b), ", not at least 0");
  if (data.kind == DataSpec::Kind::kUniform && !(data.a <= data.b))
    return Invalid("LO is ", PrintNumber(data.a), ", not at most HI, ", PrintNumber(data.b));
  const bool finite = std::isfinite(data.a) && std::isfinite(data.b);
  if (data.kind != DataSpec::Kind::kConstant && !finite) return Invalid("a value is not finite");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DataSpec> ParseDataSpec(absl::string_view text) {
  const size_t colon = text.find(':');
  const absl::string_view name = text.substr(0, colon);
  std::vector<absl::string_view> values;
  if (colon != absl::string_view::npos) values = absl::StrSplit(text.substr(colon + 1), ',');
  for (const DataForm& form : kForms) {
    if (form.name != name) continue;
    if (values.size() != form.count) return Invalid("\"", text, "\" is not ", form.parameters);
    DataSpec data;
    data.kind = form.kind;
    double* const into[] = {&data.a, &data.b};
    for (size_t i = 0; i < values.size(); ++i) {
      const std::optional<double> number = ParseNumber(values[i]);
      if (!number) return Invalid("\"", values[i], "\" is not a number");
      *into[i] = *number;
    }
    if (absl::Status status = CheckValues(data); !status.ok()) return status;
    return data;
  }
  return Invalid("\"", text, "\" is not normal:MEAN,STD, uniform:LO,HI, constant:V or special");
}

}  // namespace onepass
