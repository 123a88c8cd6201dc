// The CUDA of templates/ and of the emitter, through both compilers: each template alone, and what
// is emitted for every strategy, without a spill and without an include path.
#include "codegen/templates.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "runtime/cubin.h"
#include "tests/runtime/plain_nvcc.h"
#include "tests/runtime/simulated_case.h"
#include "tests/runtime/temporary_folder.h"

namespace onepass {
namespace {

// A chip of each architecture that kernels are made for.
constexpr const char* kChips[] = {"a100", "h200", "b200"};

const Template* FindTemplate(absl::string_view name) {
  for (int i = 0; i < kTemplateCount; ++i) {
    if (name == kTemplates[i].name) return &kTemplates[i];
  }
  return nullptr;
}

// The text after the texts it includes, each once.
void AppendWithIncludes(const Template& piece, std::set<std::string>& done, std::string& text) {
  if (!done.insert(piece.name).second) return;
  std::string own;
  for (absl::string_view line : absl::StrSplit(piece.text, '\n')) {
    absl::string_view rest = line;
    if (absl::ConsumePrefix(&rest, "#include \"")) {
      const Template* included = FindTemplate(rest.substr(0, rest.find('"')));
      ASSERT_NE(included, nullptr) << piece.name << ": " << line;
      AppendWithIncludes(*included, done, text);
    } else if (line != "#pragma once") {
      absl::StrAppend(&own, line, "\n");
    }
  }
  text += own;
}

TEST(TemplatesTest, EachCompilesAlone) {
  ASSERT_GT(kTemplateCount, 0);
  OnTwoThreads(kTemplateCount, [](size_t i) {
    Source source;
    std::set<std::string> done;
    AppendWithIncludes(kTemplates[i], done, source.text);
    source.text += "extern \"C\" __global__ void alone() {}\n";
    source.kernels = {"alone"};
    for (const char* chip : kChips) {
      const auto binary = TheNvrtc().Compile(source, FindDevice(chip)->arch());
      ASSERT_TRUE(binary.ok()) << kTemplates[i].name << ": " << binary.status();
      EXPECT_EQ(binary->log, "") << kTemplates[i].name;
    }
  });
}

TEST(TemplatesTest, EverySkeletonIsThere) {
  for (const Strategy& strategy : Strategies())
    EXPECT_NE(FindTemplate(strategy.skeleton), nullptr) << strategy.name;
}

// A source to compile, with the words that name it in a failure.
struct Emitted {
  std::string name;
  Source source;
  std::string arch;
  Plan plan;
};

// What a strategy emits for a line on a chip: of every plan, or only of the best.
std::vector<Emitted> EmittedFor(const std::string& line, absl::string_view strategy,
                                const std::string& chip, bool all_plans) {
  const DeviceSpec& device = *FindDevice(chip);
  const Key key = KeyOf(ProblemOf(line), 16);
  std::vector<Emitted> sources;
  for (const Candidate& candidate : Candidates(key, device)) {
    if (candidate.strategy->name != strategy || !candidate.refusal.empty()) continue;
    for (const Plan& plan : candidate.plans) {
      sources.push_back({absl::StrCat(line, " on ", chip, ": ", ToString(plan)),
                         EmitSource(key, plan), device.arch(), plan});
      if (!all_plans) break;
    }
  }
  EXPECT_FALSE(sources.empty()) << strategy << " refuses " << line << " on " << chip;
  return sources;
}

void ExpectNoSpills(const std::vector<Emitted>& sources) {
  OnTwoThreads(sources.size(), [&](size_t i) {
    const absl::StatusOr<Binary> binary = TheNvrtc().Compile(sources[i].source, sources[i].arch);
    ASSERT_TRUE(binary.ok()) << sources[i].name << ": " << binary.status();
    for (const KernelResources& kernel : binary->resources) {
      EXPECT_EQ(kernel.spill_bytes, 0) << sources[i].name << " " << kernel.name;
      EXPECT_EQ(kernel.local_bytes, 0) << sources[i].name << " " << kernel.name;
    }
  });
}

void Append(std::vector<Emitted>& all, std::vector<Emitted> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// Of each strategy the plans that need the most registers: eight columns of a half type a thread,
// rows that fill registers and go on in shared memory, costly activations, f64.
struct Heavy {
  const char* line;
  const char* strategy;
  const char* chip;
};
constexpr Heavy kHeaviest[] = {
    {"pointwise.fwd f16 1000000 act=gelu_tanh", "flat", "h200"},
    {"batch_norm.infer f64 32x64x56x56 residual act=softplus", "flat", "a100"},
    {"batch_norm.infer bf16 32x64x56x56:nhwc residual act=gelu_erf", "flat", "b200"},
    {"batch_norm.train f16 48x64x56x56 residual act=gelu_tanh", "persistent_block", "a100"},
    {"batch_norm.train f32 24x64x56x56 residual act=softplus", "persistent_block", "h200"},
    {"batch_norm.train f64 12x64x56x56 residual act=gelu_tanh", "persistent_block", "b200"},
    {"batch_norm.train bf16 97x64x31x31 residual act=softplus", "persistent_block", "h200"},
    {"batch_norm.train f64 32x64x112x112 residual act=softplus", "multi_pass", "h200"},
    {"batch_norm.train f16 32x64x112x112 residual act=gelu_tanh", "multi_pass", "a100"},
    {"batch_norm.train f16 64x512x56x56:nhwc residual act=gelu_tanh", "persistent_grid", "h200"},
    {"batch_norm.train f16 32x256x28x28:nhwc residual act=softplus", "persistent_grid", "a100"},
    {"batch_norm.train f64 16x256x28x28:nhwc residual act=gelu_tanh", "persistent_grid", "b200"},
    {"batch_norm.train bf16 64x256x56x56:nhwc residual act=gelu_tanh", "multi_pass", "b200"},
    {"batch_norm.train f64 64x256x56x56:nhwc residual act=softplus", "multi_pass", "a100"},
    {"layer_norm.fwd bf16 400x150000 residual act=gelu_tanh", "persistent_block", "h200"},
    {"layer_norm.fwd f32 400x80000 residual act=softplus", "persistent_block", "b200"},
    {"layer_norm.fwd f64 400x20000 residual act=gelu_tanh", "persistent_block", "a100"},
    {"rms_norm.fwd f16 400x900000 residual affine=both act=softplus", "multi_pass", "b200"},
    {"layer_norm.fwd f64 400x200000 residual act=softplus", "multi_pass", "h200"},
    {"layer_norm.fwd f16 40x300000 residual act=gelu_tanh", "multi_pass", "a100"},
    {"group_norm.fwd f16 32x512x64x64 groups=16 residual act=gelu_tanh", "persistent_block",
     "a100"},
};

TEST(EmittedSourceTest, HeaviestPlansDoNotSpill) {
  std::vector<Emitted> sources;
  for (const Heavy& heavy : kHeaviest)
    Append(sources, EmittedFor(heavy.line, heavy.strategy, heavy.chip, /*all_plans=*/false));
  ExpectNoSpills(sources);
}

// The shapes that a strategy is tried with; bytes stand for the first size, so that every type
// fills a chip alike.
struct Shape {
  const char* strategy;
  int64_t row_bytes;  // of one row (Row) or of one column (Column), all its elements
  const char* line;   // with %T for the type and %N for the batch
};
constexpr Shape kShapes[] = {
    {"flat", 0, "pointwise.fwd %T 1000000"},
    {"flat", 0, "batch_norm.infer %T 32x64x56x56"},
    {"flat", 0, "batch_norm.infer %T 32x64x56x56:nhwc"},
    {"flat", 0, "batch_norm.infer %T 32x65x31x31"},
    {"persistent_block", 300 * 1024, "batch_norm.train %T %Nx64x56x56"},
    {"persistent_block", 120 * 1024, "batch_norm.train %T %Nx64x28x28"},
    {"persistent_block", 30 * 1024, "batch_norm.train %T %Nx64x7x7"},
    {"multi_pass", 1600 * 1024, "batch_norm.train %T %Nx64x112x112"},
    {"multi_pass", 100 * 1024, "batch_norm.train %T %Nx64x7x7"},
    {"persistent_grid", 600 * 1024, "batch_norm.train %T %Nx512x56x56:nhwc"},
    {"persistent_grid", 50 * 1024, "batch_norm.train %T %Nx256x28x28:nhwc"},
    {"persistent_grid", 50 * 1024, "batch_norm.train %T %Nx33x28x28:nhwc"},
    {"multi_pass", 800 * 1024, "batch_norm.train %T %Nx256x56x56:nhwc"},
    {"multi_pass", 50 * 1024, "batch_norm.train %T %Nx33x28x28:nhwc"},
    {"persistent_block", 0, "layer_norm.fwd %T 400x30000"},
    {"persistent_block", 0, "layer_norm.fwd %T 400x4096"},
    {"persistent_block", 0, "rms_norm.fwd %T 400x1023 affine=both"},
    {"persistent_block", 0, "group_norm.fwd %T 4x320x32x32 groups=32"},
    {"persistent_block", 0, "group_norm.fwd %T 400x30000 groups=3"},
    {"multi_pass", 0, "layer_norm.fwd %T 40x300000"},
    {"multi_pass", 0, "rms_norm.fwd %T 40x300001"},
    {"multi_pass", 0, "group_norm.fwd %T 4x320x32x32 groups=4"},
};

std::string LineOf(const Shape& shape, DType dtype, absl::string_view extra) {
  const auto with_batch = [&](int64_t batch) {
    return absl::StrReplaceAll(shape.line, {{"%T", ToString(dtype)}, {"%N", absl::StrCat(batch)}});
  };
  const int64_t plane = ProblemOf(with_batch(1)).spatial() * SizeOf(dtype);
  return absl::StrCat(with_batch(std::max<int64_t>(shape.row_bytes / plane, 1)), extra);
}

TEST(EmittedSourceTest, SlowNoPlanOfAnyStrategySpills) {
  std::vector<Emitted> sources;
  for (const Shape& shape : kShapes) {
    const bool norm = !absl::StartsWith(shape.line, "pointwise");
    for (DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kF64}) {
      for (const char* act : {"", " act=gelu_tanh", " act=softplus"}) {
        const std::string extra = absl::StrCat(norm && *act != '\0' ? " residual" : "", act);
        for (const char* chip : kChips)
          Append(sources, EmittedFor(LineOf(shape, dtype, extra), shape.strategy, chip,
                                     /*all_plans=*/true));
      }
    }
  }
  ExpectNoSpills(sources);
}

TEST(EmittedSourceTest, SomeHeavyPlansUseSharedMemory) {
  int with_shared = 0;
  for (const Heavy& heavy : kHeaviest) {
    for (const Emitted& e : EmittedFor(heavy.line, heavy.strategy, heavy.chip, false))
      with_shared += e.plan.shared_vectors > 0 ? 1 : 0;
  }
  EXPECT_GE(with_shared, 4);
}

// As a user would: nvcc -arch=sm_90 -cubin kernel.cu
void ExpectPlainNvccCompiles(const std::string& nvcc, const Heavy& heavy) {
  const TemporaryFolder folder;
  for (const Emitted& e : EmittedFor(heavy.line, heavy.strategy, heavy.chip, false)) {
    std::ofstream(folder / "kernel.cu") << e.source.text;
    EXPECT_EQ(ExitStatusOf({nvcc, "-arch=" + e.arch, "-cubin", folder / "kernel.cu", "-o",
                            folder / "kernel.cubin"}),
              0)
        << e.name;
    std::ifstream file(folder / "kernel.cubin", std::ios::binary);
    const std::vector<uint8_t> cubin{std::istreambuf_iterator<char>(file), {}};
    const std::vector<std::string> kernels(e.source.kernels.begin(), e.source.kernels.end());
    EXPECT_TRUE(ReadCubin(cubin, kernels).ok()) << e.name;
  }
}

constexpr Heavy kForNvcc[] = {
    {"gelu_erf.fwd f64 1000", "flat", "a100"},
    {"batch_norm.train f16 32x64x28x28 residual act=relu", "persistent_block", "b200"},
    {"batch_norm.train f32 32x64x112x112", "multi_pass", "h200"},
    {"batch_norm.train bf16 32x256x28x28:nhwc act=swish", "persistent_grid", "h200"},
    {"batch_norm.train f64 32x35x28x28:nhwc", "multi_pass", "a100"},
    {"layer_norm.fwd bf16 8192x4096 act=gelu_tanh", "persistent_block", "h200"},
};

TEST(EmittedSourceTest, PlainNvccCompilesItWithoutIncludePath) {
  const std::string nvcc = FindNvcc(TestOptions().toolkit.cuda_home);
  if (nvcc.empty()) std::printf("  no nvcc on this machine; NVRTC stands in for it\n");
  OnTwoThreads(std::size(kForNvcc), [&](size_t i) {
    const Heavy& one = kForNvcc[i];
    if (nvcc.empty()) {
      ExpectNoSpills(EmittedFor(one.line, one.strategy, one.chip, false));
    } else {
      ExpectPlainNvccCompiles(nvcc, one);
    }
  });
}

}  // namespace
}  // namespace onepass
