#include "codegen/emit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "codegen/operators.h"
#include "codegen/strategy.h"
#include "codegen/templates.h"
#include "llvm/ADT/SmallVector.h"
#include "templates/arguments.cuh"

namespace onepass {
namespace {

constexpr absl::string_view kGenerator = "onepass 0.1.0";

absl::string_view ElementName(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return "F16";
    case DType::kBF16:
      return "BF16";
    case DType::kF64:
      return "F64";
    default:
      return "F32";
  }
}

absl::string_view TemplateText(absl::string_view name) {
  for (int i = 0; i < kTemplateCount; ++i) {
    if (name == kTemplates[i].name) return kTemplates[i].text;
  }
  return "";
}

// The name in `#include "name"`, or empty.
absl::string_view IncludedName(absl::string_view line) {
  constexpr absl::string_view kInclude = "#include \"";
  if (line.substr(0, kInclude.size()) != kInclude) return "";
  line.remove_prefix(kInclude.size());
  return line.substr(0, line.find('"'));
}

using Names = llvm::SmallVector<absl::string_view, 16>;

// Appends a template after the ones it includes, each once.
void AppendTemplate(absl::string_view name, Names& done, std::string& text) {
  for (absl::string_view other : done) {
    if (other == name) return;
  }
  done.push_back(name);
  std::string own = absl::StrCat("\n// ", name, "\n");
  for (absl::string_view line : absl::StrSplit(TemplateText(name), '\n')) {
    if (absl::string_view included = IncludedName(line); !included.empty()) {
      AppendTemplate(included, done, text);
    } else if (line != "#pragma once") {
      absl::StrAppend(&own, line, "\n");
    }
  }
  text += own;
}

// A bit-exact literal, whatever the locale.
std::string HexLiteral(double value) {
  if (value == static_cast<double>(INFINITY)) return "__longlong_as_double(0x7ff0000000000000ll)";
  return absl::StrFormat("%a", value);
}

void AppendConstant(std::string& text, absl::string_view type, absl::string_view name,
                    absl::string_view value) {
  absl::StrAppend(&text, "  static constexpr ", type, " ", name, " = ", value, ";\n");
}

// The names of the template pieces that Facts refers to, before their definitions.
std::string DeclarationsOf(const Key& key) {
  std::string text = "namespace onepass_kernel {\n";
  Names declared;
  for (DType dtype : {key.dtype, key.param, AccumulationType(key.dtype)}) {
    const absl::string_view name = ElementName(dtype);
    if (std::find(declared.begin(), declared.end(), name) != declared.end()) continue;
    declared.push_back(name);
    absl::StrAppend(&text, "struct ", name, ";\n");
  }
  return absl::StrCat(text, "struct ", RowOf(key.act).cuda, ";\n}  // namespace onepass_kernel\n");
}

void AppendType(std::string& text, absl::string_view name, absl::string_view type) {
  absl::StrAppend(&text, "  using ", name, " = ", type, ";\n");
}

std::string FactsOf(const Key& key, const Plan& plan) {
  const bool mapped = IsNorm(key.op);
  std::string text = "struct Facts {\n";
  AppendType(text, "Element", absl::StrCat("onepass_kernel::", ElementName(key.dtype)));
  AppendType(text, "Param", absl::StrCat("onepass_kernel::", ElementName(key.param)));
  AppendType(text, "Saved",
             absl::StrCat("onepass_kernel::", ElementName(AccumulationType(key.dtype))));
  AppendType(text, "Compute", key.dtype == DType::kF64 ? "double" : "float");
  AppendType(text, "Act", absl::StrCat("onepass_kernel::", RowOf(key.act).cuda));
  const std::pair<absl::string_view, int64_t> counts[] = {
      {"kThreads", plan.threads},
      {"kVector", plan.vector},
      {"kRegisterVectors", plan.register_vectors},
      {"kSharedVectors", plan.shared_vectors},
      {"kWriteVectors", plan.write_vectors},
      {"kTileVectors", plan.tile_vectors},
  };
  for (const auto& [name, value] : counts) AppendConstant(text, "int", name, absl::StrCat(value));
  AppendConstant(text, "long long", "kInner", absl::StrCat(key.inner));
  AppendConstant(text, "long long", "kParamRun", absl::StrCat(key.param_run));
  AppendConstant(text, "long long", "kChannels", absl::StrCat(key.channels));
  const std::pair<absl::string_view, bool> flags[] = {
      {"kMapped", mapped},
      {"kHasScale", mapped && key.has_scale()},
      {"kHasBias", mapped && key.has_bias()},
      {"kHasResidual", key.residual},
      {"kCentred", !IsRmsNorm(key.op)},
      {"kRunning", key.op == Op::kBatchNormTrain},
      {"kWideIndex", key.wide_index},
      {"kHalf", SizeOf(key.dtype) == 2},
  };
  for (const auto& [name, value] : flags)
    AppendConstant(text, "bool", name, value ? "true" : "false");
  AppendConstant(text, "double", "kAlpha", HexLiteral(key.act_alpha));
  AppendConstant(text, "double", "kBeta", HexLiteral(key.act_beta));
  return text + "};\n";
}

// The relations that skeletons rely on, stated again where a reader and the compiler see them.
std::string AssertionsOf(const Key& key, const Plan& plan) {
  std::string text =
      absl::StrCat("static_assert(Facts::kThreads % 32 == 0 && Facts::kThreads <= 1024);\n",
                   "static_assert(Facts::kVector * ", key.element_bytes(),
                   " == ", static_cast<int>(key.access_bytes), ");\n");
  if (key.geometry != Geometry::kFlat || key.channels > 0) {
    const bool columns = key.geometry == Geometry::kFlat && key.inner == 1;
    absl::StrAppend(&text, "static_assert(Facts::", columns ? "kChannels" : "kInner",
                    " % Facts::kVector == 0);\n");
  }
  if (key.param_run > 1)
    absl::StrAppend(&text, "static_assert(Facts::kParamRun % Facts::kVector == 0);\n");
  if (plan.tile_vectors > 0) {
    absl::StrAppend(&text, "static_assert(32 % Facts::kTileVectors == 0);\n",
                    "static_assert(Facts::kTileVectors * Facts::kVector <= Facts::kThreads);\n");
  }
  return text;
}

// What only the complete types can say: host and device agree on the parameter block and on the
// element.
std::string LayoutAssertions(const Key& key) {
  return absl::StrCat(
      "\nstatic_assert(sizeof(onepass_kernel::Arguments) == ", sizeof(onepass_kernel::Arguments),
      ");\nstatic_assert(sizeof(Facts::Element::Raw) == ", key.element_bytes(), ");\n");
}

// "onepass_row_multi_pass_apply"
std::string KernelName(const Strategy& strategy, const EntryPoint& entry) {
  const absl::string_view geometry = ToString(strategy.geometry);
  if (strategy.name == geometry) return absl::StrCat("onepass_", geometry, entry.suffix);
  return absl::StrCat("onepass_", geometry, "_", strategy.name, entry.suffix);
}

std::string KernelOf(const Plan& plan, absl::string_view name, absl::string_view function) {
  return absl::StrCat("\nextern \"C\" __global__ void __launch_bounds__(", plan.threads, ", ",
                      plan.blocks_per_sm, ")\n", name,
                      "(const __grid_constant__ onepass_kernel::Arguments arguments) {\n",
                      "  onepass_kernel::", function, "<Facts>(arguments);\n}\n");
}

}  // namespace

Source EmitSource(const Key& key, const Plan& plan) {
  const Strategy& strategy = StrategyOf(key, plan);
  Source source;
  source.text = absl::StrCat("// Generated by ", kGenerator, ".\n// key: ", ToString(key),
                             "\n// plan: ", ToString(plan), "\n\n", DeclarationsOf(key), "\n",
                             FactsOf(key, plan), "\n", AssertionsOf(key, plan));
  Names done;
  AppendTemplate(strategy.skeleton, done, source.text);
  source.text += LayoutAssertions(key);
  for (const EntryPoint& entry : strategy.entries) {
    source.kernels.push_back(KernelName(strategy, entry));
    source.text += KernelOf(plan, source.kernels.back(), entry.function);
  }
  return source;
}

}  // namespace onepass
