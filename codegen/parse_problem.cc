#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "codegen/problem.h"
#include "codegen/problem_words.h"
#include "llvm/ADT/ArrayRef.h"

namespace onepass {

namespace {

using absl::Status;
using absl::string_view;

template <typename... Parts>
Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

using Tokens = absl::InlinedVector<string_view, 16>;

// Words between spaces; a quoted part is one word with what it touches, and '|' outside quotes is a
// word of its own.
absl::StatusOr<Tokens> Split(string_view line) {
  Tokens tokens;
  size_t at = 0;
  while (true) {
    while (at < line.size() && absl::ascii_isspace(line[at])) ++at;
    if (at == line.size()) return tokens;
    const size_t begin = at;
    bool quoted = false;
    for (; at < line.size(); ++at) {
      if (line[at] == '"') quoted = !quoted;
      if (!quoted && (absl::ascii_isspace(line[at]) || line[at] == '|')) break;
    }
    if (quoted) return Invalid("problem: the quote at column ", begin + 1, " is not closed");
    if (at == begin) ++at;  // the '|' itself
    tokens.push_back(line.substr(begin, at - begin));
  }
}

// What an operator's word says: the operator, and for sugar what else.
struct OperatorWord {
  Op op = Op::kPointwiseFwd;
  string_view activation;  // "relu" of "relu.fwd"
  bool global = false;     // a window as large as the input
};

absl::StatusOr<OperatorWord> ParseOperator(string_view text) {
  for (int i = 0; i < kOperatorCount; ++i) {
    if (text == kOperatorNames[i]) return OperatorWord{static_cast<Op>(i), "", false};
  }
  const size_t dot = text.rfind('.');
  const string_view base = text.substr(0, dot);
  const string_view pass = dot == string_view::npos ? "" : text.substr(dot + 1);
  if (pass == "fwd" || pass == "grad") {
    const bool grad = pass == "grad";
    if (base == "global_max_pool")
      return OperatorWord{grad ? Op::kMaxPoolGrad : Op::kMaxPoolFwd, "", true};
    if (base == "global_avg_pool")
      return OperatorWord{grad ? Op::kAvgPoolGrad : Op::kAvgPoolFwd, "", true};
    if (FindActivation(base) != nullptr) {
      return OperatorWord{grad ? Op::kPointwiseGrad : Op::kPointwiseFwd, base, false};
    }
  }
  return Invalid("op: \"", text, "\" is not an operator");
}

// Removes the quotes around the value of a key.
absl::StatusOr<string_view> Unquote(string_view name, string_view value) {
  if (value.find('"') == string_view::npos) return value;
  if (value.size() < 2 || value.front() != '"' || value.find('"', 1) != value.size() - 1) {
    return Invalid(name, ": ", value, " is not quoted as a whole");
  }
  return value.substr(1, value.size() - 2);
}

class StageParser {
 public:
  StageParser(Problem& stage, bool first) : stage_(stage), first_(first) {}

  // Reads the flags and keys of a stage whose operator, dtype and dims are known.
  Status Parse(const OperatorWord& op, llvm::ArrayRef<string_view> tokens) {
    stage_.op = op.op;
    stage_.affine = DefaultAffine(op.op);
    stage_.param = DefaultParam(stage_.dtype);
    if (Status status = ApplySugar(op); !status.ok()) return status;
    for (string_view token : tokens) {
      if (Status status = ParseToken(token); !status.ok()) return status;
    }
    FillDefaults();
    return absl::OkStatus();
  }

 private:
  Status ApplySugar(const OperatorWord& op) {
    if (op.global) {
      if (stage_.dims.size() > 2)
        stage_.window.size.assign(stage_.dims.begin() + 2, stage_.dims.end());
      return Claim("window");
    }
    if (op.activation.empty()) return absl::OkStatus();
    return ParseToken(absl::StrCat("act=", op.activation));
  }

  Status ParseToken(string_view token) {
    const size_t equals = token.find('=');
    const string_view name = token.substr(0, equals);
    const bool has_value = equals != string_view::npos;
    for (const ProblemWord& word : ProblemWords()) {
      if (word.name == name)
        return ParseWord(word, has_value, has_value ? token.substr(equals + 1) : "");
    }
    return Invalid(name, ": is not a flag or key");
  }

  Status ParseWord(const ProblemWord& word, bool has_value, string_view value) {
    if ((word.ops & BitOf(stage_.op)) == 0) {
      return Invalid(word.name, ": ", ToString(stage_.op), " does not take it");
    }
    if (word.first_only && !first_) {
      return Invalid(word.name, ": belongs to the first stage, before any '|'");
    }
    if (has_value && word.form == ProblemWord::Form::kFlag) {
      return Invalid(word.name, ": takes no value, not \"", value, "\"");
    }
    if (!has_value && word.form == ProblemWord::Form::kKey) {
      return Invalid(word.name, ": needs a value, ", word.name, "=...");
    }
    if (has_value && value.empty()) return Invalid(word.name, ": the value is empty");
    if (Status status = Claim(word.name); !status.ok()) return status;
    const absl::StatusOr<string_view> bare = Unquote(word.name, value);
    if (!bare.ok()) return bare.status();
    const Status status = word.parse(*bare, stage_);
    return status.ok() ? status : Invalid(word.name, ": ", status.message());
  }

  // Notes that the word was given.
  Status Claim(string_view name) {
    uint64_t bit = 1;
    for (const ProblemWord& word : ProblemWords()) {
      if (word.name == name) break;
      bit <<= 1;
    }
    if ((seen_ & bit) != 0) return Invalid(name, ": is given twice");
    seen_ |= bit;
    return absl::OkStatus();
  }

  void FillDefaults() {
    PoolWindow& window = stage_.window;
    const size_t axes = window.size.size();
    if (window.stride.empty()) window.stride = window.size;
    if (window.pad_begin.empty()) window.pad_begin.assign(axes, 0);
    if (window.pad_end.empty()) window.pad_end.assign(axes, 0);
    if (window.dilation.empty()) window.dilation.assign(axes, 1);
  }

  Problem& stage_;
  bool first_;
  uint64_t seen_ = 0;
};

Status ParseDims(string_view text, Problem& problem) {
  const size_t colon = text.find(':');
  absl::StatusOr<Dims> dims = ParseSizes(text.substr(0, colon));
  if (!dims.ok()) return Invalid("dims: ", dims.status().message());
  problem.dims = *std::move(dims);
  if (colon == string_view::npos) return absl::OkStatus();
  const string_view layout = text.substr(colon + 1);
  if (layout != "nchw" && layout != "nhwc") {
    return Invalid("layout: \"", layout, "\" is neither nchw nor nhwc");
  }
  problem.layout = layout == "nchw" ? Layout::kChannelsFirst : Layout::kChannelsLast;
  return absl::OkStatus();
}

// Strides that say what the layout says anyway are the default.
void DropDenseStrides(Problem& problem) {
  const auto fits = [](const Dims& dims) {
    __int128 product = 1;
    for (int64_t size : dims)
      product = product > INT64_MAX ? product : product * (size > 1 ? size : 1);
    return product <= INT64_MAX;
  };
  const auto drop = [&](const Dims& dims, Dims& strides) {
    if (fits(dims) && strides == DenseStrides(dims, problem.layout)) strides.clear();
  };
  drop(problem.dims, problem.strides);
  drop(OutputDims(problem), problem.dy_strides);
}

Status ParseFirstStage(llvm::ArrayRef<string_view> tokens, Problem& problem) {
  if (tokens.empty()) return Invalid("problem: the line is empty");
  const absl::StatusOr<OperatorWord> op = ParseOperator(tokens[0]);
  if (!op.ok()) return op.status();
  if (tokens.size() < 3)
    return Invalid("problem: OP DTYPE DIMS is the least, \"", tokens.back(), "\" ends it");
  const std::optional<DType> dtype = ParseDType(tokens[1]);
  if (!dtype) return Invalid("dtype: \"", tokens[1], "\" is not f32, f16, bf16 or f64");
  problem.dtype = *dtype;
  if (Status status = ParseDims(tokens[2], problem); !status.ok()) return status;
  if (Status status = StageParser(problem, true).Parse(*op, tokens.drop_front(3)); !status.ok()) {
    return status;
  }
  DropDenseStrides(problem);
  return absl::OkStatus();
}

Status ParseLaterStage(llvm::ArrayRef<string_view> tokens, Problem& problem) {
  const int number = static_cast<int>(problem.next.size()) + 2;
  if (tokens.empty()) return Invalid("problem: stage ", number, " is empty");
  const absl::StatusOr<OperatorWord> op = ParseOperator(tokens[0]);
  if (!op.ok()) return Invalid("stage ", number, ": ", op.status().message());
  const Problem& before = problem.next.empty() ? problem : problem.next.back();
  Problem stage;
  stage.dtype = problem.dtype;
  stage.layout = problem.layout;
  stage.dims = OutputDims(before);
  if (Status status = StageParser(stage, false).Parse(*op, tokens.drop_front()); !status.ok()) {
    return Invalid("stage ", number, ": ", status.message());
  }
  problem.next.push_back(std::move(stage));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Problem> ParseProblem(string_view line) {
  const absl::StatusOr<Tokens> split = Split(line);
  if (!split.ok()) return split.status();
  Problem problem;
  llvm::ArrayRef<string_view> rest(split->data(), split->size());
  for (bool first = true;; first = false) {
    size_t length = 0;
    while (length < rest.size() && rest[length] != "|") ++length;
    const llvm::ArrayRef<string_view> stage = rest.take_front(length);
    const Status status = first ? ParseFirstStage(stage, problem) : ParseLaterStage(stage, problem);
    if (!status.ok()) return status;
    if (length == rest.size()) return problem;
    rest = rest.drop_front(length + 1);
  }
}

}  // namespace onepass
