#include "codegen/problem_words.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "codegen/number_text.h"

namespace onepass {

namespace {

using absl::Status;
using absl::string_view;

Status NotA(string_view value, string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("\"", value, "\" is not ", what));
}

Status Read(string_view value, double& into) {
  const std::optional<double> number = ParseNumber(value);
  if (!number) return NotA(value, "a number");
  into = *number;
  return absl::OkStatus();
}

Status Read(string_view value, int64_t& into) {
  const std::optional<int64_t> number = ParseInteger(value);
  if (!number) return NotA(value, "a whole number");
  into = *number;
  return absl::OkStatus();
}

Status Read(string_view value, int& into) {
  int64_t wide = 0;
  if (Status status = Read(value, wide); !status.ok()) return status;
  into = static_cast<int>(wide);
  return into == wide ? absl::OkStatus() : NotA(value, "a small whole number");
}

Status Read(string_view value, Dims& into) {
  absl::StatusOr<Dims> sizes = ParseSizes(value);
  if (!sizes.ok()) return sizes.status();
  into = *std::move(sizes);
  return absl::OkStatus();
}

// One of the names, by position.
template <typename Enum, size_t n>
Status ReadChoice(string_view value, const string_view (&names)[n], Enum& into) {
  for (size_t i = 0; i < n; ++i) {
    if (value != names[i]) continue;
    into = static_cast<Enum>(i);
    return absl::OkStatus();
  }
  return NotA(value, absl::StrJoin(names, " or "));
}

// What stands behind "name="; "" for the bare name; nothing for the default.
using Printed = std::optional<std::string>;

std::string Print(double value) { return PrintNumber(value); }
std::string Print(int64_t value) { return absl::StrCat(value); }
std::string Print(int value) { return absl::StrCat(value); }
std::string Print(const Dims& sizes) { return PrintSizes(sizes); }

const Problem& Defaults() {
  static const Problem* defaults = new Problem;
  return *defaults;
}

constexpr string_view kRunningVarNames[] = {"unbiased", "biased"};
constexpr string_view kAffineNames[] = {"both", "scale", "bias", "none"};
constexpr string_view kStatsNames[] = {"batch", "fixed"};
constexpr string_view kCountNames[] = {"exclude", "include"};

// Types and strides.

Status ParseParam(string_view value, Problem& p) {
  const std::optional<DType> dtype = ParseDType(value);
  if (!dtype) return NotA(value, "f32, f16, bf16 or f64");
  p.param = *dtype;
  return absl::OkStatus();
}

Printed PrintParam(const Problem& p) {
  if (p.param == DefaultParam(p.dtype)) return std::nullopt;
  return std::string(ToString(p.param));
}

template <Dims Problem::*field>
Status ParseStrides(string_view value, Problem& p) {
  for (string_view part : absl::StrSplit(value, ',')) {
    int64_t stride = 0;
    if (Status status = Read(part, stride); !status.ok()) return status;
    (p.*field).push_back(stride);
  }
  return absl::OkStatus();
}

template <Dims Problem::*field>
Printed PrintStrides(const Problem& p) {
  if ((p.*field).empty()) return std::nullopt;
  return absl::StrJoin(p.*field, ",");
}

// Norms.

Status ParseMomentum(string_view value, Problem& p) {
  constexpr string_view kCumulative = "cumulative:";
  if (value.substr(0, kCumulative.size()) != kCumulative) return Read(value, p.momentum);
  if (Status status = Read(value.substr(kCumulative.size()), p.cumulative_batches); !status.ok()) {
    return status;
  }
  return p.cumulative_batches < 0 ? NotA(value, "cumulative:T with T at least 0")
                                  : absl::OkStatus();
}

Printed PrintMomentum(const Problem& p) {
  if (p.cumulative_batches >= 0) return absl::StrCat("cumulative:", p.cumulative_batches);
  if (p.momentum == Defaults().momentum) return std::nullopt;
  return PrintNumber(p.momentum);
}

Printed PrintAffine(const Problem& p) {
  if (p.affine == DefaultAffine(p.op)) return std::nullopt;
  return std::string(kAffineNames[static_cast<size_t>(p.affine)]);
}

// Pointwise.

Status ParseAct(string_view value, Problem& p) {
  const std::vector<string_view> parts = absl::StrSplit(value, ':');
  const ActivationRow* row = FindActivation(parts[0]);
  if (row == nullptr) return NotA(parts[0], "an activation");
  const int given = static_cast<int>(parts.size()) - 1;
  if (given < row->required || given > row->parameters) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", value, "\" has ", given, " constants, ", row->name, " takes ",
                     row->required == row->parameters ? "" : "up to ", row->parameters));
  }
  double constants[] = {row->alpha, row->beta};
  for (int i = 0; i < given; ++i) {
    const std::optional<double> number = ParseQuotient(parts[i + 1]);
    if (!number) return NotA(parts[i + 1], "a number");
    constants[i] = *number;
  }
  p.act = {row->kind, constants[0], constants[1]};
  return absl::OkStatus();
}

Printed PrintAct(const Problem& p) {
  if (p.act.kind == ActivationKind::kIdentity) return std::nullopt;
  return ToString(p.act);
}

Status ParseExpr(string_view value, Problem& p) {
  absl::StatusOr<Expression> expression = ParseExpression(value);
  if (!expression.ok()) {
    string_view message = expression.status().message();
    message.remove_prefix(message.find(": ") + 2);  // the caller names the argument
    return absl::InvalidArgumentError(message);
  }
  p.expr = std::make_shared<const Expression>(*std::move(expression));
  return absl::OkStatus();
}

Printed PrintExpr(const Problem& p) {
  if (!p.expr) return std::nullopt;
  return absl::StrCat("\"", ToString(*p.expr), "\"");
}

template <char name>
Status ParseOperand(string_view value, Problem& p) {
  Dims dims = p.dims;
  if (!value.empty()) {
    if (Status status = Read(value, dims); !status.ok()) return status;
  }
  auto place = p.operands.begin();
  while (place != p.operands.end() && place->name < name) ++place;
  p.operands.insert(place, Operand{name, std::move(dims)});
  return absl::OkStatus();
}

template <char name>
Printed PrintOperand(const Problem& p) {
  for (const Operand& operand : p.operands) {
    if (operand.name == name) return operand.dims == p.dims ? "" : PrintSizes(operand.dims);
  }
  return std::nullopt;
}

// Pools.

Status ParsePad(string_view value, Problem& p) {
  PoolWindow& window = p.window;
  window.pad_begin.clear();
  window.pad_end.clear();
  if (value.find(',') == string_view::npos) {
    if (Status status = Read(value, window.pad_begin); !status.ok()) return status;
    window.pad_end = window.pad_begin;
    return absl::OkStatus();
  }
  for (string_view axis : absl::StrSplit(value, ':')) {
    const std::vector<string_view> ends = absl::StrSplit(axis, ',');
    int64_t begin = 0, end = 0;
    if (ends.size() != 2) return NotA(axis, "a begin and an end, as 0,1");
    for (auto [text, into] : {std::pair(ends[0], &begin), std::pair(ends[1], &end)}) {
      if (Status status = Read(text, *into); !status.ok()) return status;
    }
    window.pad_begin.push_back(begin);
    window.pad_end.push_back(end);
  }
  return absl::OkStatus();
}

Printed PrintPad(const Problem& p) {
  const PoolWindow& window = p.window;
  const Dims zeros(window.size.size(), 0);
  if (window.pad_begin == zeros && window.pad_end == zeros) return std::nullopt;
  if (window.pad_begin == window.pad_end) return PrintSizes(window.pad_begin);
  std::string text;
  for (size_t i = 0; i < window.pad_begin.size() && i < window.pad_end.size(); ++i) {
    absl::StrAppend(&text, i > 0 ? ":" : "", window.pad_begin[i], ",", window.pad_end[i]);
  }
  return text;
}

Printed PrintStride(const Problem& p) {
  if (p.window.stride == p.window.size) return std::nullopt;
  return PrintSizes(p.window.stride);
}

Printed PrintDilation(const Problem& p) {
  if (p.window.dilation == Dims(p.window.size.size(), 1)) return std::nullopt;
  return PrintSizes(p.window.dilation);
}

Status ParseDivisor(string_view value, Problem& p) {
  if (Status status = Read(value, p.window.divisor); !status.ok()) return status;
  return p.window.divisor == 0 ? NotA(value, "a divisor") : absl::OkStatus();
}

Status ParseAlign(string_view value, Problem& p) {
  if (Status status = Read(value, p.align); !status.ok()) return status;
  return p.align == 0 ? NotA(value, "an alignment") : absl::OkStatus();
}

// A field of the problem or of its window.
template <auto field>
auto& FieldOf(auto& problem) {
  if constexpr (requires { problem.*field; }) {
    return problem.*field;
  } else {
    return problem.window.*field;
  }
}

template <auto field>
Status ParseFlag(string_view, Problem& p) {
  FieldOf<field>(p) = true;
  return absl::OkStatus();
}

template <auto field>
Printed PrintFlag(const Problem& p) {
  return FieldOf<field>(p) ? Printed("") : std::nullopt;
}

template <auto field, const auto& names>
Status ParseChoice(string_view value, Problem& p) {
  return ReadChoice(value, names, FieldOf<field>(p));
}

template <auto field, const auto& names>
Printed PrintChoice(const Problem& p) {
  if (FieldOf<field>(p) == FieldOf<field>(Defaults())) return std::nullopt;
  return std::string(names[static_cast<size_t>(FieldOf<field>(p))]);
}

template <auto field>
Status ParseValue(string_view value, Problem& p) {
  return Read(value, FieldOf<field>(p));
}

template <auto field>
Printed PrintValue(const Problem& p) {
  if (FieldOf<field>(p) == FieldOf<field>(Defaults())) return std::nullopt;
  return Print(FieldOf<field>(p));
}

using Form = ProblemWord::Form;
constexpr OpSet kTrain = BitOf(Op::kBatchNormTrain);

template <auto field>
constexpr ProblemWord Flag(string_view name, OpSet ops, bool first_only = false) {
  return {name, Form::kFlag, ops, first_only, ParseFlag<field>, PrintFlag<field>};
}

template <auto field>
constexpr ProblemWord Value(string_view name, OpSet ops, bool first_only = false) {
  return {name, Form::kKey, ops, first_only, ParseValue<field>, PrintValue<field>};
}

template <auto field, const auto& names>
constexpr ProblemWord Choice(string_view name, OpSet ops) {
  return {name, Form::kKey, ops, false, ParseChoice<field, names>, PrintChoice<field, names>};
}

const ProblemWord kWords[] = {
    {"param", Form::kKey, kNorms, false, ParseParam, PrintParam},
    {"strides", Form::kKey, kAll, true, ParseStrides<&Problem::strides>,
     PrintStrides<&Problem::strides>},
    {"dy_strides", Form::kKey, kGrads, true, ParseStrides<&Problem::dy_strides>,
     PrintStrides<&Problem::dy_strides>},
    Value<&Problem::eps>("eps", kNorms),
    {"momentum", Form::kKey, kTrain, false, ParseMomentum, PrintMomentum},
    Choice<&Problem::running_var, kRunningVarNames>("running_var", kTrain),
    {"affine", Form::kKey, kNorms, false, ParseChoice<&Problem::affine, kAffineNames>, PrintAffine},
    Value<&Problem::groups>("groups", kGroupNorms),
    Value<&Problem::axes>("axes", kLayerNorms | kRmsNorms),
    Choice<&Problem::stats, kStatsNames>("stats", BitOf(Op::kBatchNormGrad)),
    Flag<&Problem::recompute>("recompute", kNorms& kGrads),
    Flag<&Problem::save>("save", kSampleNorms& kForwards),
    Flag<&Problem::residual>("residual", kNorms),
    Flag<&Problem::skip>("skip", kSampleNorms),
    {"act", Form::kKey, kNorms | kPointwise, false, ParseAct, PrintAct},
    Flag<&Problem::batch_invariant>("batch_invariant", kNorms),
    {"expr", Form::kKey, kPointwise, false, ParseExpr, PrintExpr},
    {"a", Form::kEither, kPointwise, false, ParseOperand<'a'>, PrintOperand<'a'>},
    {"b", Form::kEither, kPointwise, false, ParseOperand<'b'>, PrintOperand<'b'>},
    {"c", Form::kEither, kPointwise, false, ParseOperand<'c'>, PrintOperand<'c'>},
    Value<&PoolWindow::size>("window", kPools),
    {"stride", Form::kKey, kPools, false, ParseValue<&PoolWindow::stride>, PrintStride},
    {"pad", Form::kKey, kPools, false, ParsePad, PrintPad},
    {"dilation", Form::kKey, kPools, false, ParseValue<&PoolWindow::dilation>, PrintDilation},
    Flag<&PoolWindow::ceil>("ceil", kPools),
    Choice<&PoolWindow::include_padding, kCountNames>("count", kAvgPools),
    {"divisor", Form::kKey, kAvgPools, false, ParseDivisor, PrintValue<&PoolWindow::divisor>},
    Value<&PoolWindow::p>("p", kLpPools),
    Flag<&PoolWindow::indices>("indices", kMaxPools),
    Flag<&Problem::inplace>("inplace", kAll, true),
    {"align", Form::kKey, kAll, true, ParseAlign, PrintValue<&Problem::align>},
};

}  // namespace

llvm::ArrayRef<ProblemWord> ProblemWords() { return kWords; }

absl::StatusOr<Dims> ParseSizes(string_view text) {
  Dims sizes;
  for (string_view part : absl::StrSplit(text, 'x')) {
    int64_t size = 0;
    if (Status status = Read(part, size); !status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", text, "\" is not whole numbers with x between them"));
    }
    sizes.push_back(size);
  }
  return sizes;
}

std::string PrintSizes(const Dims& sizes) { return absl::StrJoin(sizes, "x"); }

}  // namespace onepass
