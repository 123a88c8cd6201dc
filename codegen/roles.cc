#include "codegen/roles.h"

#include "absl/strings/str_cat.h"
#include "codegen/operators.h"
#include "codegen/problem_words.h"

namespace onepass {

namespace {

constexpr absl::string_view kRoleNames[] = {
    "x",
    "dy",
    "residual",
    "skip",
    "a",
    "b",
    "c",
    "scale",
    "bias",
    "mean",
    "var",
    "running_mean",
    "running_var",
    "saved_mean",
    "saved_invstd",
    "indices",
    "y",
    "sum",
    "dx",
    "dresidual",
    "da",
    "db",
    "dc",
    "dscale",
    "dbias",
    "running_mean_out",
    "running_var_out",
};
static_assert(sizeof(kRoleNames) / sizeof(kRoleNames[0]) == kRoleCount);

// What a role's sizes and type derive from.
enum class Shape { kX, kY, kOperand, kParameter, kStatistic };
enum class Type { kData, kParam, kStatistic, kIndex };

using Predicate = bool (*)(const Problem&);

bool Always(const Problem&) { return true; }
bool HasScale(const Problem& p) { return p.has_scale(); }
bool HasBias(const Problem& p) { return p.has_bias(); }
bool HasResidual(const Problem& p) { return p.residual; }
bool HasSkip(const Problem& p) { return p.skip; }
bool HasAct(const Problem& p) { return p.act.kind != ActivationKind::kIdentity; }
// The gradient of an activation needs the pre-activation value again.
bool NeedsBias(const Problem& p) { return HasAct(p) && p.has_bias(); }
bool NeedsResidual(const Problem& p) { return HasAct(p) && p.residual; }
bool IsFixed(const Problem& p) { return p.stats == Stats::kFixed; }
bool ReadsSaved(const Problem& p) { return !IsFixed(p) && !p.recompute; }
bool WritesSaved(const Problem& p) { return p.save; }
bool HasIndices(const Problem& p) { return p.window.indices; }
bool NoIndices(const Problem& p) { return !p.window.indices; }

template <char name>
bool HasOperand(const Problem& p) {
  for (const Operand& operand : p.operands) {
    if (operand.name == name) return true;
  }
  return false;
}

struct RoleRow {
  Role role;
  bool output;
  OpSet ops;
  Predicate present;
  Shape shape;
  Type type;
};

constexpr OpSet kInfer = BitOf(Op::kBatchNormInfer);
constexpr OpSet kTrain = BitOf(Op::kBatchNormTrain);
constexpr OpSet kBatchGrad = BitOf(Op::kBatchNormGrad);
constexpr OpSet kNormGrads = kNorms & kGrads;
constexpr OpSet kPoolGrads = kPools & kGrads;
constexpr OpSet kMaxGrad = BitOf(Op::kMaxPoolGrad);
constexpr OpSet kWithMean = kBatchNorms | kLayerNorms | kGroupNorms | kInstanceNorms;
constexpr OpSet kPointGrad = BitOf(Op::kPointwiseGrad);

// CONTRACT's "Tensors by role", inputs first. A role with several rows has at most one that
// applies.
constexpr RoleRow kRows[] = {
    {Role::kX, false, kNorms | kPointwise | (kPools & kForwards) | BitOf(Op::kLpPoolGrad), Always,
     Shape::kX, Type::kData},
    {Role::kX, false, kMaxGrad, NoIndices, Shape::kX, Type::kData},
    {Role::kA, false, kPointwise, HasOperand<'a'>, Shape::kOperand, Type::kData},
    {Role::kB, false, kPointwise, HasOperand<'b'>, Shape::kOperand, Type::kData},
    {Role::kC, false, kPointwise, HasOperand<'c'>, Shape::kOperand, Type::kData},
    {Role::kDy, false, kGrads, Always, Shape::kY, Type::kData},
    {Role::kSkip, false, kSampleNorms& kForwards, HasSkip, Shape::kX, Type::kData},
    {Role::kScale, false, kNorms, HasScale, Shape::kParameter, Type::kParam},
    {Role::kBias, false, kNorms& kForwards, HasBias, Shape::kParameter, Type::kParam},
    {Role::kMean, false, kInfer, Always, Shape::kParameter, Type::kParam},
    {Role::kVar, false, kInfer, Always, Shape::kParameter, Type::kParam},
    {Role::kMean, false, kBatchGrad, IsFixed, Shape::kParameter, Type::kParam},
    {Role::kVar, false, kBatchGrad, IsFixed, Shape::kParameter, Type::kParam},
    {Role::kRunningMean, false, kTrain, Always, Shape::kParameter, Type::kParam},
    {Role::kRunningVar, false, kTrain, Always, Shape::kParameter, Type::kParam},
    {Role::kSavedMean, false, kNormGrads& kWithMean, ReadsSaved, Shape::kStatistic,
     Type::kStatistic},
    {Role::kSavedInvstd, false, kNormGrads, ReadsSaved, Shape::kStatistic, Type::kStatistic},
    {Role::kBias, false, kNormGrads, NeedsBias, Shape::kParameter, Type::kParam},
    {Role::kResidual, false, kNorms& kForwards, HasResidual, Shape::kX, Type::kData},
    {Role::kResidual, false, kNormGrads, NeedsResidual, Shape::kX, Type::kData},
    {Role::kIndices, false, kMaxGrad, HasIndices, Shape::kY, Type::kIndex},

    {Role::kY, true, kForwards, Always, Shape::kY, Type::kData},
    {Role::kSum, true, kSampleNorms& kForwards, HasSkip, Shape::kX, Type::kData},
    {Role::kSavedMean, true, kTrain, Always, Shape::kStatistic, Type::kStatistic},
    {Role::kSavedInvstd, true, kTrain, Always, Shape::kStatistic, Type::kStatistic},
    {Role::kSavedMean, true, kSampleNorms& kForwards& kWithMean, WritesSaved, Shape::kStatistic,
     Type::kStatistic},
    {Role::kSavedInvstd, true, kSampleNorms& kForwards, WritesSaved, Shape::kStatistic,
     Type::kStatistic},
    {Role::kRunningMeanOut, true, kTrain, Always, Shape::kParameter, Type::kParam},
    {Role::kRunningVarOut, true, kTrain, Always, Shape::kParameter, Type::kParam},
    {Role::kDx, true, kGrads, Always, Shape::kX, Type::kData},
    {Role::kDa, true, kPointGrad, HasOperand<'a'>, Shape::kOperand, Type::kData},
    {Role::kDb, true, kPointGrad, HasOperand<'b'>, Shape::kOperand, Type::kData},
    {Role::kDc, true, kPointGrad, HasOperand<'c'>, Shape::kOperand, Type::kData},
    {Role::kDscale, true, kNormGrads, HasScale, Shape::kParameter, Type::kParam},
    {Role::kDbias, true, kNormGrads, HasBias, Shape::kParameter, Type::kParam},
    {Role::kDresidual, true, kNormGrads, HasResidual, Shape::kX, Type::kData},
    {Role::kIndices, true, BitOf(Op::kMaxPoolFwd), HasIndices, Shape::kY, Type::kIndex},
};

// Scale and bias: the channels, or the last K axes of x.
Dims ParameterDims(const Problem& p) {
  if ((BitOf(p.op) & (kLayerNorms | kRmsNorms)) == 0) return {p.channels()};
  return Dims(p.dims.end() - p.axes, p.dims.end());
}

// One value for each reduction: channel, row, group or instance.
Dims StatisticDims(const Problem& p) {
  const OpSet op = BitOf(p.op);
  if ((op & kBatchNorms) != 0) return {p.channels()};
  if ((op & kGroupNorms) != 0) return {p.batch(), p.groups};
  if ((op & kInstanceNorms) != 0) return {p.batch(), p.channels()};
  return Dims(p.dims.begin(), p.dims.end() - p.axes);
}

const Dims& OperandDims(const Problem& p, Role role) {
  const int place = role >= Role::kDa ? static_cast<int>(role) - static_cast<int>(Role::kDa)
                                      : static_cast<int>(role) - static_cast<int>(Role::kA);
  for (const Operand& operand : p.operands) {
    if (operand.name == 'a' + place) return operand.dims;
  }
  return p.dims;  // not reached: the row applies only where the operand is declared
}

Dims DimsOf(const Problem& p, const RoleRow& row) {
  switch (row.shape) {
    case Shape::kX:
      return p.dims;
    case Shape::kY:
      return OutputDims(p);
    case Shape::kOperand:
      return OperandDims(p, row.role);
    case Shape::kParameter:
      return ParameterDims(p);
    case Shape::kStatistic:
      return StatisticDims(p);
  }
  return {};
}

DType TypeOf(const Problem& p, Type type) {
  switch (type) {
    case Type::kData:
      return p.dtype;
    case Type::kParam:
      return p.param;
    case Type::kStatistic:
      return AccumulationType(p.dtype);
    case Type::kIndex:
      return DType::kI64;
  }
  return p.dtype;
}

Dims StridesOf(const Problem& p, const RoleRow& row, const Dims& dims) {
  if (row.role == Role::kX && !p.strides.empty()) return p.strides;
  if (row.role == Role::kDy && !p.dy_strides.empty()) return p.dy_strides;
  const bool data =
      row.shape == Shape::kX || row.shape == Shape::kY || row.shape == Shape::kOperand;
  return DenseStrides(dims, data ? p.layout : Layout::kChannelsFirst);
}

std::optional<Role> SharedBuffer(const Problem& whole, Role role) {
  if (role == Role::kRunningMeanOut) return Role::kRunningMean;
  if (role == Role::kRunningVarOut) return Role::kRunningVar;
  if (whole.inplace && role == Role::kY) return Role::kX;
  if (whole.inplace && role == Role::kDx) return Role::kDy;
  return std::nullopt;
}

// The tensors of one stage that a chain reads or writes: the x of later stages and the y of all but
// the last do not exist.
void AppendStage(const Problem& whole, const Problem& stage, int number, bool output,
                 llvm::SmallVectorImpl<TensorSpec>& specs) {
  const bool last = number == static_cast<int>(whole.next.size());
  for (const RoleRow& row : kRows) {
    if (row.output != output || (row.ops & BitOf(stage.op)) == 0 || !row.present(stage)) continue;
    if (row.role == Role::kX && number > 0) continue;
    if (row.role == Role::kY && !last) continue;
    TensorSpec spec;
    spec.role = row.role;
    spec.stage = row.role == Role::kY ? 0 : number;  // y is the chain's own
    spec.dtype = TypeOf(stage, row.type);
    spec.dims = DimsOf(stage, row);
    spec.strides = StridesOf(stage, row, spec.dims);
    spec.output = output;
    spec.shares = SharedBuffer(whole, row.role);
    specs.push_back(std::move(spec));
  }
}

}  // namespace

absl::string_view ToString(Role role) { return kRoleNames[static_cast<int>(role)]; }

std::optional<Role> ParseRole(absl::string_view text) {
  for (int i = 0; i < kRoleCount; ++i) {
    if (text == kRoleNames[i]) return static_cast<Role>(i);
  }
  return std::nullopt;
}

std::string TensorSpec::name() const {
  if (stage == 0) return std::string(ToString(role));
  return absl::StrCat("s", stage + 1, "_", ToString(role));
}

int64_t TensorSpec::elements() const { return ElementsOf(dims); }

int64_t TensorSpec::span_elements() const {
  int64_t last = 0;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 0) return 0;
    last += (dims[axis] - 1) * strides[axis];
  }
  return last + 1;
}

llvm::SmallVector<TensorSpec, 8> TensorsOf(const Problem& problem) {
  llvm::SmallVector<TensorSpec, 8> specs;
  for (bool output : {false, true}) {
    AppendStage(problem, problem, 0, output, specs);
    for (size_t i = 0; i < problem.next.size(); ++i) {
      AppendStage(problem, problem.next[i], static_cast<int>(i) + 1, output, specs);
    }
  }
  return specs;
}

}  // namespace onepass
