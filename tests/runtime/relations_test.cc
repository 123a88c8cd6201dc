// Relations between runs of the same kernels: what must not change the numbers does not. Each holds
// on a third of the sample of case lines; the slow tests go through all of it.
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "codegen/activation.h"
#include "gtest/gtest.h"
#include "runtime/reference/element.h"
#include "tests/runtime/simulated_case.h"

namespace onepass {
namespace {

Session& H200() { return SessionOn("sim:h200"); }

// A run that the reference finds right; the outputs of all others are compared with its own.
CaseResult RunChecked(const Problem& problem, const CaseOptions& options = OptionsFor(""),
                      std::vector<HostTensor> given = {}) {
  CaseResult result = RunCase(H200(), problem, options, std::move(given));
  EXPECT_TRUE(result.report.ok()) << ToString(problem) << " strategy=" << options.strategy << ": "
                                  << result.report.error.value_or("");
  return result;
}

std::vector<HostTensor> OutputsOf(const Problem& problem, std::vector<HostTensor> inputs) {
  return RunChecked(problem, Unchecked(OptionsFor("")), std::move(inputs)).outputs;
}

// Whether the first axis is one of those that layer and RMS norm reduce over.
bool ReducesOverTheBatch(const Problem& problem) {
  const bool last_axes = problem.op == Op::kLayerNormFwd || problem.op == Op::kRmsNormFwd;
  return last_axes && problem.axes == problem.rank();
}

void PermutingTheBatchPermutesTheResults(const Problem& problem) {
  if (ReducesOverTheBatch(problem)) return;
  const CaseResult base = RunChecked(problem);
  std::vector<int64_t> reversed(problem.batch());
  for (int64_t n = 0; n < problem.batch(); ++n) reversed[n] = problem.batch() - 1 - n;
  std::vector<HostTensor> inputs = base.inputs;
  for (HostTensor& input : inputs) {
    if (HasXDims(input.spec.role)) input = Rearranged(input, input.spec, reversed);
  }
  std::vector<HostTensor> outputs = OutputsOf(problem, std::move(inputs));
  ASSERT_NE(FindRole(outputs, Role::kY), nullptr);
  for (HostTensor& output : outputs) {
    const bool by_sample = HasXDims(output.spec.role) || !IsBatchNorm(problem.op);
    if (by_sample) output = Rearranged(output, output.spec, reversed);
  }
  ExpectRight(problem, base.inputs, outputs);
}

void Scale(HostTensor* tensor, double factor) {
  if (tensor == nullptr) return;
  std::vector<double> values = ValuesOf(*tensor);
  for (double& value : values) value *= factor;
  SetValues(values, *tensor);
}

// x times 2^k, var and eps times 4^k: the same y.
void ScaleDoesNotShowInY(const Problem& problem) {
  if (!IsNorm(problem.op)) return;
  const CaseResult base = RunChecked(problem);
  // Powers that every element takes without rounding.
  const bool narrow = problem.dtype == DType::kF16 || problem.param == DType::kF16;
  for (int power : narrow ? std::vector<int>{3} : std::vector<int>{20, -20}) {
    const double scale = std::ldexp(1.0, power);
    Problem scaled = problem;
    scaled.eps *= scale * scale;
    std::vector<HostTensor> inputs = base.inputs;
    Scale(FindRole(inputs, Role::kX), scale);
    Scale(FindRole(inputs, Role::kMean), scale);
    Scale(FindRole(inputs, Role::kVar), scale * scale);
    std::vector<HostTensor> outputs = OutputsOf(scaled, std::move(inputs));
    Scale(FindRole(outputs, Role::kSavedMean), 1 / scale);
    Scale(FindRole(outputs, Role::kSavedInvstd), scale);
    std::erase_if(outputs, [](const HostTensor& output) {
      return output.spec.role == Role::kRunningMeanOut || output.spec.role == Role::kRunningVarOut;
    });
    ExpectRight(problem, base.inputs, outputs);
  }
}

void LayoutsAgree(const Problem& problem) {
  if (problem.rank() < 3) return;
  const CaseResult base = RunChecked(problem);
  Problem other = problem;
  other.layout =
      problem.layout == Layout::kChannelsFirst ? Layout::kChannelsLast : Layout::kChannelsFirst;
  if (!KeyCovers(other).ok()) return;
  std::vector<HostTensor> inputs;
  const auto specs = TensorsOf(other);
  for (size_t i = 0; i < base.inputs.size(); ++i)
    inputs.push_back(Rearranged(base.inputs[i], specs[i]));
  std::vector<HostTensor> outputs = OutputsOf(other, std::move(inputs));
  ASSERT_EQ(outputs.size(), base.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    outputs[i] = Rearranged(outputs[i], base.outputs[i].spec);
  ExpectRight(problem, base.inputs, outputs);
}

std::vector<std::string> AcceptingStrategies(const Problem& problem) {
  std::vector<std::string> names;
  for (const Candidate& candidate : Candidates(KeyOf(problem, 16), H200().device().spec())) {
    if (candidate.refusal.empty()) names.emplace_back(candidate.strategy->name);
  }
  return names;
}

void StrategiesAgree(const Problem& problem) {
  const std::vector<std::string> strategies = AcceptingStrategies(problem);
  ASSERT_FALSE(strategies.empty()) << ToString(problem);
  for (const char* data : {"normal:0,1", "normal:1000,1"}) {
    const CaseResult base = RunChecked(problem, OptionsFor(strategies[0], data));
    for (size_t i = 1; i < strategies.size(); ++i) {
      const CaseResult other =
          RunChecked(problem, Unchecked(OptionsFor(strategies[i])), base.inputs);
      ExpectRight(problem, base.inputs, other.outputs);
    }
  }
}

void AlignmentDoesNotShow(const Problem& problem) {
  const CaseResult base = RunChecked(problem);
  Problem odd = problem;
  odd.align = SizeOf(problem.dtype);
  ExpectRight(problem, base.inputs, OutputsOf(odd, base.inputs));
}

void InPlaceGivesTheSameBits(const Problem& problem) {
  Problem in_place = problem;
  in_place.inplace = true;
  ASSERT_TRUE(Validate(in_place).ok()) << Validate(in_place);
  for (const std::string& strategy : AcceptingStrategies(problem)) {
    const CaseResult base = RunChecked(problem, OptionsFor(strategy));
    const CaseResult result = RunChecked(in_place, Unchecked(OptionsFor(strategy)), base.inputs);
    ExpectSameBits(result.outputs, base.outputs, absl::StrCat(ToString(in_place), strategy));
  }
}

EngineOptions WideIndex() {
  EngineOptions options;
  options.hooks.wide_index = true;
  return options;
}

void WideIndicesGiveTheSameBits(const Problem& problem) {
  static auto* const wide =
      new Engine(H200().device(), H200().store(), *Nvrtc::Load(TestOptions().toolkit), WideIndex());
  const CaseResult base = RunChecked(problem);
  const auto outputs = RunOn(H200().device(), *wide, problem, base.inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  ExpectSameBits(*outputs, base.outputs, ToString(problem));
}

void RunsGiveTheSameBits(const Problem& problem) {
  const CaseResult base = RunChecked(problem);
  ExpectSameBits(OutputsOf(problem, base.inputs), base.outputs, ToString(problem));
}

// A simulated H200 whose warps and blocks take turns in another order.
struct OtherInterleaving {
  explicit OtherInterleaving(uint64_t seed)
      : device(*OpenDevice("sim:h200", {.seed = seed})),
        engine(*device, H200().store(), *Nvrtc::Load(TestOptions().toolkit)) {}
  std::unique_ptr<Device> device;
  Engine engine;
};

void InterleavingsGiveTheSameBits(const Problem& problem) {
  static auto* const others =
      new OtherInterleaving[2]{OtherInterleaving(1), OtherInterleaving(0x9e3779b97f4a7c15)};
  const CaseResult base = RunChecked(problem);
  for (OtherInterleaving* other : {&others[0], &others[1]}) {
    const auto outputs = RunOn(*other->device, other->engine, problem, base.inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    ExpectSameBits(*outputs, base.outputs, ToString(problem));
  }
}

// The same tensor in the type that arithmetic is done in, which is exact.
HostTensor Widened(const HostTensor& tensor, const TensorSpec& spec) {
  HostTensor wide{spec, std::vector<uint8_t>(SpanBytes(spec))};
  SetValues(ValuesOf(tensor), wide);
  return wide;
}

// The fused kernel against three launches in the accumulation type: the norm alone, the residual
// added here, the activation alone; then rounded once, as the fused one is.
void FusedEqualsUnfused(const Problem& problem) {
  if (!IsNorm(problem.op)) return;
  if (!problem.residual && problem.act.kind == ActivationKind::kIdentity) return;
  const CaseResult fused = RunChecked(problem);

  Problem norm = problem;
  norm.dtype = norm.param = AccumulationType(problem.dtype);
  norm.residual = false;
  norm.act = {};
  std::vector<HostTensor> inputs;
  for (const TensorSpec& spec : TensorsOf(norm)) {
    if (spec.output) continue;
    const HostTensor* from = FindRole(fused.inputs, spec.role);
    ASSERT_NE(from, nullptr);
    inputs.push_back(Widened(*from, spec));
  }
  HostTensor value = *FindRole(OutputsOf(norm, std::move(inputs)), Role::kY);
  if (problem.residual) {
    std::vector<double> sum = ValuesOf(value);
    const std::vector<double> added = ValuesOf(*FindRole(fused.inputs, Role::kResidual));
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += added[i];
    SetValues(sum, value);
  }

  Problem pointwise;
  pointwise.op = Op::kPointwiseFwd;
  pointwise.dtype = pointwise.param = norm.dtype;
  pointwise.dims = problem.dims;
  pointwise.layout = problem.layout;
  pointwise.act = problem.act;
  value.spec = TensorsOf(pointwise)[0];
  const std::vector<HostTensor> wide = OutputsOf(pointwise, {value});
  HostTensor y = *FindRole(fused.outputs, Role::kY);
  SetValues(ValuesOf(wide[0]), y);
  ExpectRight(problem, fused.inputs, {y});
}

struct Relation {
  const char* name;
  void (*holds)(const Problem& problem);
};

constexpr Relation kRelations[] = {
    {"PermutingTheBatchPermutesTheResults", PermutingTheBatchPermutesTheResults},
    {"ScaleDoesNotShowInY", ScaleDoesNotShowInY},
    {"LayoutsAgree", LayoutsAgree},
    {"StrategiesAgree", StrategiesAgree},
    {"AlignmentDoesNotShow", AlignmentDoesNotShow},
    {"InPlaceGivesTheSameBits", InPlaceGivesTheSameBits},
    {"WideIndicesGiveTheSameBits", WideIndicesGiveTheSameBits},
    {"RunsGiveTheSameBits", RunsGiveTheSameBits},
    {"InterleavingsGiveTheSameBits", InterleavingsGiveTheSameBits},
    {"FusedEqualsUnfused", FusedEqualsUnfused},
};

class RelationsTest : public testing::TestWithParam<Relation> {};

TEST_P(RelationsTest, HoldsOnAThirdOfTheSample) {
  const std::vector<std::string> lines = SampleLines();
  for (size_t i = 2; i < lines.size(); i += 3) GetParam().holds(ProblemOf(lines[i]));
}

TEST_P(RelationsTest, SlowHoldsOnTheSample) {
  for (const std::string& line : SampleLines()) GetParam().holds(ProblemOf(line));
}

INSTANTIATE_TEST_SUITE_P(Relations, RelationsTest, testing::ValuesIn(kRelations),
                         [](const auto& relation) { return relation.param.name; });

// The affine map of batch_norm.infer that changes no bit: mean 0, variance 1, eps 0, scale 1, bias
// -0, which leaves the sign of zero alone.
std::vector<HostTensor> IdentityMap(const Problem& problem, const HostTensor& x) {
  std::vector<HostTensor> inputs;
  for (const TensorSpec& spec : TensorsOf(problem)) {
    if (spec.output) continue;
    HostTensor tensor{spec, std::vector<uint8_t>(SpanBytes(spec))};
    const bool one = spec.role == Role::kScale || spec.role == Role::kVar;
    const double zero = spec.role == Role::kBias ? -0.0 : 0.0;
    SetValues(std::vector<double>(spec.elements(), one ? 1.0 : zero), tensor);
    inputs.push_back(spec.role == Role::kX ? x : tensor);
  }
  return inputs;
}

// Both NaN, or the same bits.
void ExpectSameValues(const HostTensor& got, const HostTensor& want, const HostTensor& x,
                      const std::string& where) {
  const std::vector<double> a = ValuesOf(got), b = ValuesOf(want), from = ValuesOf(x);
  for (size_t i = 0; i < a.size(); ++i) {
    const bool same = std::isnan(b[i]) ? std::isnan(a[i])
                                       : a[i] == b[i] && std::signbit(a[i]) == std::signbit(b[i]);
    EXPECT_TRUE(same) << where << " at x = " << from[i] << ": fused " << a[i] << ", alone " << b[i];
  }
}

void ExpectFusedSpecialValues(absl::string_view act, absl::string_view dtype) {
  const Problem alone = ProblemOf(absl::StrCat("pointwise.fwd ", dtype, " 2x3x40 act=", act));
  const CaseResult special = RunChecked(alone, OptionsFor("", "special"));
  const Problem fused =
      ProblemOf(absl::StrCat("batch_norm.infer ", dtype, " 2x3x40 eps=0 act=", act));
  const HostTensor& x = special.inputs[0];
  ExpectSameValues(OutputsOf(fused, IdentityMap(fused, x))[0], special.outputs[0], x,
                   ToString(fused));
}

TEST(FusedActivationTest, SpecialValuesAsAlone) {
  for (const ActivationRow& row : Activations()) {
    if (row.cuda.empty()) continue;
    ExpectFusedSpecialValues(row.name, "f32");
    ExpectFusedSpecialValues(row.name, "f16");
  }
}

// A residual adds to NaN and Inf as arithmetic says, before the activation.
TEST(FusedActivationTest, SpecialValuesThroughAResidual) {
  const Problem problem = ProblemOf("batch_norm.infer f32 1x2x3 eps=0 residual act=relu");
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = NAN;
  std::vector<HostTensor> inputs = IdentityMap(problem, {});
  HostTensor& x = inputs[0];
  x = {TensorsOf(problem)[0], std::vector<uint8_t>(24)};
  SetValues({kNan, kInf, -kInf, kInf, -0.0, 1}, x);
  SetValues({1, -kInf, kInf, 2, -0.0, kNan}, *FindRole(inputs, Role::kResidual));
  const std::vector<double> y = ValuesOf(OutputsOf(problem, inputs)[0]);
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]) && std::isnan(y[2]) && std::isnan(y[5]));
  EXPECT_EQ(y[3], kInf);
  EXPECT_EQ(y[4], 0);
}

// Each channel its own constant, of either sign and any magnitude that the type holds.
HostTensor ConstantChannels(const Problem& problem) {
  const TensorSpec spec = TensorsOf(problem)[0];
  HostTensor logical{spec, std::vector<uint8_t>(SpanBytes(spec))};
  logical.spec.strides = DenseStrides(spec.dims, Layout::kChannelsFirst);
  const double base = problem.dtype == DType::kF16 ? 5 : 50;
  std::vector<double> values(spec.elements());
  for (int64_t i = 0; i < spec.elements(); ++i) {
    const int64_t channel = i / problem.spatial() % problem.channels();
    values[i] = std::pow(base, channel % 6) * (1 + 0.1 * static_cast<double>(channel % 17)) *
                (channel % 2 == 0 ? 1 : -1);
  }
  SetValues(values, logical);
  return Rearranged(logical, spec);
}

void ExpectExactlyBias(const Problem& problem, const std::string& strategy) {
  const CaseResult result =
      RunChecked(problem, Unchecked(OptionsFor(strategy)), {ConstantChannels(problem)});
  ASSERT_FALSE(result.outputs.empty());
  const TensorSpec& spec = result.outputs[0].spec;
  TensorSpec logical_spec = spec;
  logical_spec.strides = DenseStrides(spec.dims, Layout::kChannelsFirst);
  const HostTensor y = Rearranged(result.outputs[0], logical_spec);
  HostTensor want = y;
  std::vector<double> values(spec.elements(), 0.0);
  if (const HostTensor* bias = FindRole(result.inputs, Role::kBias)) {
    const std::vector<double> biases = ValuesOf(*bias);
    for (int64_t i = 0; i < spec.elements(); ++i) {
      const bool by_position = problem.op == Op::kLayerNormFwd;
      values[i] =
          biases[by_position ? i % problem.spatial() : i / problem.spatial() % problem.channels()];
    }
  }
  SetValues(values, want);
  EXPECT_EQ(ValuesOf(y), ValuesOf(want)) << ToString(problem) << " strategy=" << strategy;
}

TEST(ConstantChannelsTest, GiveExactlyBias) {
  for (const char* line : {
           "batch_norm.train f32 1x5x10x10 affine=none",
           "batch_norm.train f32 1x1x3x3",
           "batch_norm.train f32 3x7x17x19",
           "batch_norm.train f16 9x24x7x7",
           "batch_norm.train bf16 6x10x31x33",
           "batch_norm.train f64 5x6x9x7",
           "batch_norm.train f32 7x35x11x3:nhwc",
           "batch_norm.train f16 3x128x13x13:nhwc affine=bias",
           "batch_norm.train bf16 129x40",
           "batch_norm.train f64 4x8x9x9:nhwc",
           "batch_norm.train f32 14001x1 eps=1e-12",
           "instance_norm.fwd f32 3x7x17x19",
           "instance_norm.fwd bf16 2x12x31x33",
           "group_norm.fwd f64 2x6x9x7 groups=6",
           "layer_norm.fwd f32 3x7x17x19 axes=2",
           "layer_norm.fwd f16 2x6x64x64 axes=2",
       }) {
    const Problem problem = ProblemOf(line);
    for (const std::string& strategy : AcceptingStrategies(problem))
      ExpectExactlyBias(problem, strategy);
  }
}

// A serving engine with a dynamic batch does not compile for each size.
TEST(DynamicBatchTest, TwentySizesOfAClassShareAKernel) {
  for (const char* shape :
       {"batch_norm.train f32 %x24x5x5", "batch_norm.train f16 %x24x7x7",
        "batch_norm.train f16 %x32:nhwc act=relu", "batch_norm.infer bf16 %x24x5x5 residual",
        "batch_norm.infer f32 %x24x5x5:nhwc", "relu.fwd f16 %x48", "layer_norm.fwd bf16 %x768",
        "group_norm.fwd f16 %x32x8x8 groups=8 save", "instance_norm.fwd f32 %x24x5x5"}) {
    Engine& engine = H200().EngineFor("");
    const auto sized = [&](int64_t batch) {
      return ProblemOf(absl::StrReplaceAll(shape, {{"%", absl::StrCat(batch)}}));
    };
    const auto first = engine.Prepare(sized(232), 16);
    ASSERT_TRUE(first.ok()) << first.status();
    for (int64_t batch = 232; batch < 252; ++batch) {
      const auto kernel = engine.Prepare(sized(batch), 16);
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      EXPECT_EQ(*kernel, *first) << ToString(sized(batch));
    }
    for (int64_t batch : {232, 239, 251}) RunChecked(sized(batch));
  }
}

// Nor one with a dynamic row length: sixty-four lengths of a class, in whole accesses.
TEST(DynamicLengthTest, LengthsOfAClassShareAKernel) {
  Engine& engine = H200().EngineFor("");
  for (const char* line : {"layer_norm.fwd f16 37x", "rms_norm.fwd f32 37x"}) {
    const auto sized = [&](int64_t length) { return ProblemOf(absl::StrCat(line, length)); };
    const int64_t vector = 16 / SizeOf(sized(1).dtype);
    const auto first = engine.Prepare(sized(449 * vector), 16);
    ASSERT_TRUE(first.ok()) << first.status();
    for (int64_t vectors = 449; vectors <= 512; ++vectors) {
      const auto kernel = engine.Prepare(sized(vectors * vector), 16);
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      EXPECT_EQ(*kernel, *first) << ToString(sized(vectors * vector));
    }
    for (int64_t vectors : {449, 481, 512}) RunChecked(sized(vectors * vector));
  }
}

// Two spellings of one function: the same outputs from the same inputs.
TEST(SampleNormsTest, ContainEachOther) {
  constexpr const char* kPairs[][2] = {
      {"group_norm.fwd f32 3x5x7x9 groups=5 save", "instance_norm.fwd f32 3x5x7x9 save"},
      {"group_norm.fwd f16 3x8x8x8 groups=1 affine=none",
       "layer_norm.fwd f16 3x8x8x8 axes=3 affine=none"},
      {"group_norm.fwd bf16 5x12x6 groups=1 affine=none",
       "layer_norm.fwd bf16 5x12x6:nhwc axes=2 affine=none"},
      {"instance_norm.fwd f64 3x5x33 affine=none", "layer_norm.fwd f64 3x5x33 affine=none"},
      {"batch_norm.train f32 1x5x7x9", "instance_norm.fwd f32 1x5x7x9"},
      {"layer_norm.fwd f16 6x64x1x1 axes=3", "layer_norm.fwd f16 6x64x1x1:nhwc axes=3"},
  };
  for (const auto& [one, other] : kPairs) {
    const CaseResult base = RunChecked(ProblemOf(one));
    std::vector<HostTensor> inputs;
    for (const TensorSpec& spec : TensorsOf(ProblemOf(other))) {
      if (spec.output) continue;
      inputs.push_back({spec, FindRole(base.inputs, spec.role)->bytes});
    }
    std::vector<HostTensor> outputs = OutputsOf(ProblemOf(other), inputs);
    for (const HostTensor& output : outputs) {
      const HostTensor* want = FindRole(base.outputs, output.spec.role);
      EXPECT_EQ(output.bytes == want->bytes, true) << one << " and " << other;
    }
  }
}

// What a row's neighbours are does not show in its bits.
TEST(SampleNormsTest, BatchInvariantRowsDoNotDependOnTheBatch) {
  for (const char* shape : {"rms_norm.fwd bf16 %x1536 batch_invariant",
                            "group_norm.fwd f32 %x8x30x30 groups=2 batch_invariant"}) {
    const auto sized = [&](int64_t batch) {
      return ProblemOf(absl::StrReplaceAll(shape, {{"%", absl::StrCat(batch)}}));
    };
    const CaseResult all = RunChecked(sized(40));
    std::vector<HostTensor> inputs = all.inputs;
    inputs[0].spec = TensorsOf(sized(1))[0];
    inputs[0].bytes.resize(SpanBytes(inputs[0].spec));
    const std::vector<HostTensor> alone = OutputsOf(sized(1), inputs);
    std::vector<uint8_t> first = all.outputs[0].bytes;
    first.resize(alone[0].bytes.size());
    EXPECT_EQ(alone[0].bytes == first, true) << shape;
  }
}

}  // namespace
}  // namespace onepass
