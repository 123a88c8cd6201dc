#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "onepass/onepass.h"
#include "tests/runtime/temporary_folder.h"

extern "C" int onepass_test_relu_in_c(const char* toolkit);

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const char* Toolkit() { return std::getenv("CUDA_HOME"); }

struct Destroy {
  void operator()(onepass_engine* engine) const { onepass_engine_destroy(engine); }
  void operator()(onepass_problem* problem) const { onepass_problem_destroy(problem); }
};
using EngineHandle = std::unique_ptr<onepass_engine, Destroy>;
using ProblemHandle = std::unique_ptr<onepass_problem, Destroy>;

onepass_options MemoryOnly() {
  onepass_options options = ONEPASS_OPTIONS_INIT;
  options.cache_dir = "";
  options.cuda_home = Toolkit();
  return options;
}

EngineHandle Opened(const onepass_options& options) {
  onepass_engine* engine = nullptr;
  EXPECT_EQ(onepass_engine_create("sim:h200", &options, &engine), ONEPASS_OK)
      << onepass_last_error();
  return EngineHandle(engine);
}

// Compiled kernels are kept for all tests of this program.
onepass_engine* SharedEngine() {
  static const EngineHandle engine = Opened(MemoryOnly());
  return engine.get();
}

ProblemHandle Parsed(const char* line) {
  onepass_problem* problem = nullptr;
  EXPECT_EQ(onepass_problem_parse(line, &problem), ONEPASS_OK) << onepass_last_error();
  return ProblemHandle(problem);
}

// A problem's tensors in device memory, everything 0.
class Tensors {
 public:
  Tensors(onepass_engine* engine, const onepass_problem* problem)
      : engine_(engine), problem_(problem) {
    for (size_t i = 0; i < onepass_problem_tensor_count(problem); ++i) {
      onepass_tensor tensor;
      EXPECT_EQ(onepass_problem_tensor(problem, i, &tensor), ONEPASS_OK);
      addresses.push_back(tensor.shares >= 0 ? addresses[tensor.shares] : Zeroed(tensor.bytes));
      if (tensor.shares < 0) owned_.push_back(addresses.back());
    }
    launch = {addresses.data(), addresses.size(), 0, 0, nullptr};
  }
  ~Tensors() {
    for (uint64_t address : owned_) EXPECT_EQ(onepass_free(engine_, address), ONEPASS_OK);
  }

  uint64_t& At(const char* name) { return addresses[onepass_problem_find(problem_, name)]; }

  void Set(const char* name, const std::vector<float>& values) {
    EXPECT_EQ(onepass_copy_in(engine_, At(name), values.data(), values.size() * sizeof(float)),
              ONEPASS_OK);
  }
  std::vector<float> Get(const char* name, size_t count) {
    std::vector<float> values(count);
    EXPECT_EQ(onepass_copy_out(engine_, values.data(), At(name), count * sizeof(float)),
              ONEPASS_OK);
    return values;
  }
  onepass_status Run() { return onepass_run(engine_, problem_, &launch); }

  std::vector<uint64_t> addresses;
  onepass_launch launch;

 private:
  uint64_t Zeroed(int64_t bytes) {
    uint64_t address = 0;
    EXPECT_EQ(onepass_alloc(engine_, bytes, &address), ONEPASS_OK);
    EXPECT_EQ(onepass_zero(engine_, address, bytes), ONEPASS_OK);
    return address;
  }

  onepass_engine* engine_;
  const onepass_problem* problem_;
  std::vector<uint64_t> owned_;
};

TEST(ApiTest, HeaderIsC) { EXPECT_EQ(onepass_test_relu_in_c(Toolkit()), ONEPASS_OK); }

TEST(ApiTest, VersionIsThere) { EXPECT_STREQ(onepass_version(), "0.1.0"); }

TEST(ApiTest, SharedLibraryExportsTheCInterfaceOnly) {
  void* library = dlopen(ONEPASS_SHARED_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto version = reinterpret_cast<const char* (*)()>(dlsym(library, "onepass_version"));
  ASSERT_NE(version, nullptr);
  EXPECT_STREQ(version(), onepass_version());
  for (const char* name : {"onepass_run", "onepass_prepare", "onepass_dlpack_addresses"})
    EXPECT_NE(dlsym(library, name), nullptr) << name;
  EXPECT_EQ(dlsym(library, "_ZN7onepass8ValidateERKNS_7ProblemE"), nullptr);
  dlclose(library);
}

TEST(ApiTest, TensorsAreThoseOfTheRoleTable) {
  const ProblemHandle problem = Parsed("batch_norm.train f16 2x3x4x5:nhwc act=relu");
  std::vector<std::string> names;
  std::map<std::string, onepass_tensor> tensors;
  for (size_t i = 0; i < onepass_problem_tensor_count(problem.get()); ++i) {
    onepass_tensor tensor;
    ASSERT_EQ(onepass_problem_tensor(problem.get(), i, &tensor), ONEPASS_OK);
    EXPECT_EQ(onepass_problem_find(problem.get(), tensor.name), static_cast<int32_t>(i));
    names.push_back(tensor.name);
    tensors[tensor.name] = tensor;
  }
  EXPECT_THAT(names,
              ElementsAre("x", "scale", "bias", "running_mean", "running_var", "y", "saved_mean",
                          "saved_invstd", "running_mean_out", "running_var_out"));
  const onepass_tensor& x = tensors["x"];
  EXPECT_EQ(x.dtype, ONEPASS_F16);
  ASSERT_EQ(x.rank, 4);
  EXPECT_THAT(x.dims, ElementsAre(2, 3, 4, 5, 0));
  EXPECT_THAT(x.strides, ElementsAre(60, 1, 15, 3, 0));
  EXPECT_EQ(x.bytes, 240);
  EXPECT_EQ(x.is_output, 0);
  EXPECT_EQ(x.shares, -1);
  EXPECT_EQ(tensors["scale"].dtype, ONEPASS_F32);
  EXPECT_EQ(tensors["running_mean_out"].shares, 3);
  EXPECT_EQ(tensors["running_mean_out"].is_output, 1);
  EXPECT_EQ(onepass_problem_find(problem.get(), "dx"), -1);
}

TEST(ApiTest, TextIsCanonical) {
  EXPECT_STREQ(onepass_problem_text(Parsed("relu.fwd f32 4x8 ").get()),
               "pointwise.fwd f32 4x8 act=relu");
}

TEST(ApiTest, BadProblemsAreRefusedByName) {
  onepass_problem* problem = nullptr;
  EXPECT_EQ(onepass_problem_parse("batch_norm.train f32 4x8x6x6 eps=-1", &problem),
            ONEPASS_INVALID);
  EXPECT_THAT(onepass_last_error(), StartsWith("eps:"));
  EXPECT_EQ(onepass_problem_parse("frobnicate f32 4", &problem), ONEPASS_INVALID);
  EXPECT_EQ(onepass_problem_parse("max_pool.fwd f32 1x1x4x4 window=2x2 inplace", &problem),
            ONEPASS_UNSUPPORTED);
  EXPECT_EQ(onepass_problem_parse(nullptr, &problem), ONEPASS_INVALID);
  EXPECT_EQ(problem, nullptr);
}

TEST(ApiTest, BadEnginesAreRefusedByName) {
  onepass_engine* engine = nullptr;
  EXPECT_EQ(onepass_engine_create("sim:z80", nullptr, &engine), ONEPASS_INVALID);
  EXPECT_THAT(onepass_last_error(), HasSubstr("sim:z80"));
  onepass_options options = MemoryOnly();
  options.size = 8;
  EXPECT_EQ(onepass_engine_create("sim:h200", &options, &engine), ONEPASS_INVALID);
  EXPECT_THAT(onepass_last_error(), StartsWith("options.size:"));
  options = MemoryOnly();
  options.cache_limit = -1;
  EXPECT_EQ(onepass_engine_create("sim:h200", &options, &engine), ONEPASS_INVALID);
  EXPECT_EQ(engine, nullptr);
}

TEST(ApiTest, UnusableCacheFolderIsSaidOnceAndWorks) {
  std::vector<std::string> lines;
  onepass_options options = MemoryOnly();
  options.cache_dir = "not/absolute";
  options.warn_user = &lines;
  options.warn = [](const char* line, void* user) {
    static_cast<std::vector<std::string>*>(user)->push_back(line);
  };
  EXPECT_STREQ(onepass_engine_device(Opened(options).get()), "sim:h200");
  EXPECT_THAT(lines, ElementsAre(HasSubstr("not/absolute")));
}

TEST(ApiTest, BatchNormTrainsWithWorkspaceAndRunningStatistics) {
  const ProblemHandle problem = Parsed("batch_norm.train f32 2x1x1x2 eps=0 momentum=0.5");
  onepass_workspace workspace;
  ASSERT_EQ(onepass_prepare(SharedEngine(), problem.get(), 0, &workspace), ONEPASS_OK)
      << onepass_last_error();
  EXPECT_GE(workspace.bytes, workspace.barrier_bytes);
  Tensors tensors(SharedEngine(), problem.get());
  tensors.Set("x", {1, 3, 1, 3});
  tensors.Set("scale", {2});
  tensors.Set("bias", {1});
  tensors.Set("running_mean", {4});
  ASSERT_EQ(tensors.Run(), ONEPASS_OK) << onepass_last_error();
  ASSERT_EQ(onepass_synchronize(SharedEngine(), nullptr), ONEPASS_OK);
  EXPECT_THAT(tensors.Get("y", 4), ElementsAre(-1, 3, -1, 3));
  EXPECT_THAT(tensors.Get("running_mean_out", 1), ElementsAre(3));
}

// The first of these problems that needs one, whatever strategy is chosen for small ones.
TEST(ApiTest, TooSmallWorkspaceIsRefused) {
  onepass_options options = MemoryOnly();
  options.strategy = "multi_pass";
  const EngineHandle engine = Opened(options);
  const ProblemHandle problem = Parsed("batch_norm.train f32 64x8x8x8:nhwc");
  onepass_workspace workspace;
  ASSERT_EQ(onepass_prepare(engine.get(), problem.get(), 0, &workspace), ONEPASS_OK)
      << onepass_last_error();
  ASSERT_GT(workspace.bytes, 0);
  Tensors tensors(engine.get(), problem.get());
  EXPECT_EQ(tensors.Run(), ONEPASS_INVALID);
  EXPECT_THAT(onepass_last_error(), StartsWith("workspace: 0 bytes"));
  tensors.launch.workspace_bytes = workspace.bytes - 1;
  ASSERT_EQ(onepass_alloc(engine.get(), workspace.bytes, &tensors.launch.workspace), ONEPASS_OK);
  EXPECT_EQ(tensors.Run(), ONEPASS_INVALID);
  tensors.launch.workspace_bytes = workspace.bytes;
  ASSERT_EQ(onepass_zero(engine.get(), tensors.launch.workspace, workspace.barrier_bytes),
            ONEPASS_OK);
  EXPECT_EQ(tensors.Run(), ONEPASS_OK) << onepass_last_error();
}

TEST(ApiTest, BadAddressesAreRefusedByName) {
  const ProblemHandle problem = Parsed("batch_norm.train f32 2x3x4x5");
  Tensors tensors(SharedEngine(), problem.get());
  const auto refused = [&](const char* name, uint64_t address) -> std::string {
    const uint64_t before = tensors.At(name);
    tensors.At(name) = address;
    EXPECT_EQ(tensors.Run(), ONEPASS_INVALID) << name;
    tensors.At(name) = before;
    return onepass_last_error();
  };
  EXPECT_THAT(refused("scale", 0), StartsWith("scale: its address is 0"));
  EXPECT_THAT(refused("y", tensors.At("y") + 2), HasSubstr("multiple of 4"));
  EXPECT_THAT(refused("y", tensors.At("x")), StartsWith("y: is written"));
  EXPECT_THAT(refused("y", tensors.At("x") + 476), StartsWith("y: is written"));
  EXPECT_THAT(refused("saved_mean", tensors.At("running_mean")), HasSubstr("overlap"));
  EXPECT_THAT(refused("running_mean_out", tensors.At("y")), HasSubstr("shares the memory"));
  tensors.launch.count -= 1;
  EXPECT_EQ(tensors.Run(), ONEPASS_INVALID);
  EXPECT_THAT(onepass_last_error(), StartsWith("addresses: there are 9"));
}

TEST(ApiTest, InPlaceTakesOneAddressForBoth) {
  const ProblemHandle problem = Parsed("relu.fwd f32 3 inplace");
  Tensors tensors(SharedEngine(), problem.get());
  tensors.Set("x", {-1, 0.5, 2});
  tensors.At("y") = 0;  // x's memory, said by leaving it out
  ASSERT_EQ(tensors.Run(), ONEPASS_OK) << onepass_last_error();
  EXPECT_THAT(tensors.Get("x", 3), ElementsAre(0, 0.5, 2));
}

TEST(ApiTest, EmptyProblemsLaunchNothing) {
  const ProblemHandle problem = Parsed("relu.fwd f32 0x4");
  onepass_workspace workspace = {1, 1};
  EXPECT_EQ(onepass_prepare(SharedEngine(), problem.get(), 0, &workspace), ONEPASS_OK);
  EXPECT_EQ(workspace.bytes, 0);
  const uint64_t addresses[] = {0, 0};
  const onepass_launch launch = {addresses, 2, 0, 0, nullptr};
  EXPECT_EQ(onepass_run(SharedEngine(), problem.get(), &launch), ONEPASS_OK);
}

TEST(ApiTest, WhatHasNoKernelIsUnsupportedAndNotComputedWrongly) {
  for (const char* line : {"layer_norm.grad f32 4x8", "relu.fwd f32 4x8 strides=16,1",
                           "pointwise.fwd f32 4x8 expr=\"x*2\"",
                           "batch_norm.infer f32 1x8x4x4 | max_pool.fwd window=2x2"}) {
    const ProblemHandle problem = Parsed(line);
    EXPECT_EQ(onepass_prepare(SharedEngine(), problem.get(), 0, nullptr), ONEPASS_UNSUPPORTED)
        << line << ": " << onepass_last_error();
  }
}

TEST(ApiTest, BadAlignmentIsRefused) {
  const ProblemHandle problem = Parsed("relu.fwd f32 4");
  for (int64_t alignment : {2, 12, -4}) {
    EXPECT_EQ(onepass_prepare(SharedEngine(), problem.get(), alignment, nullptr), ONEPASS_INVALID);
    EXPECT_THAT(onepass_last_error(), StartsWith("alignment:"));
  }
}

TEST(ApiTest, FaultOfASimulatedKernelIsAFault) {
  const ProblemHandle problem = Parsed("relu.fwd f32 4");
  Tensors tensors(SharedEngine(), problem.get());
  tensors.At("y") = tensors.At("x") + (uint64_t{1} << 40);  // nobody's memory
  EXPECT_EQ(tensors.Run(), ONEPASS_FAULT) << onepass_last_error();
}

TEST(ApiTest, NullHandlesAreRefused) {
  onepass_launch launch = {};
  uint64_t address = 0;
  EXPECT_EQ(onepass_run(nullptr, nullptr, &launch), ONEPASS_INVALID);
  EXPECT_STREQ(onepass_last_error(), "engine: is null");
  EXPECT_EQ(onepass_prepare(SharedEngine(), nullptr, 0, nullptr), ONEPASS_INVALID);
  EXPECT_EQ(onepass_alloc(nullptr, 1, &address), ONEPASS_INVALID);
  EXPECT_EQ(onepass_alloc(SharedEngine(), -1, &address), ONEPASS_INVALID);
  EXPECT_EQ(onepass_problem_tensor(nullptr, 0, nullptr), ONEPASS_INVALID);
  EXPECT_EQ(onepass_problem_tensor_count(nullptr), 0u);
  onepass_engine_destroy(nullptr);
  onepass_problem_destroy(nullptr);
}

TEST(ApiTest, MessagesBelongToTheirThread) {
  onepass_problem* problem = nullptr;
  EXPECT_EQ(onepass_problem_parse("mine f32 4", &problem), ONEPASS_INVALID);
  std::thread([] { EXPECT_STREQ(onepass_last_error(), ""); }).join();
  EXPECT_THAT(onepass_last_error(), HasSubstr("mine"));
}

TEST(ApiTest, ThreadsShareOneProblemAndOneEngine) {
  const EngineHandle engine = Opened(MemoryOnly());
  const ProblemHandle problem = Parsed("relu.fwd f32 1000");
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t) {
    threads.emplace_back([&, t] {
      Tensors tensors(engine.get(), problem.get());
      tensors.Set("x", std::vector<float>(1000, static_cast<float>(t)));
      for (int round = 0; round < 5; ++round)
        EXPECT_EQ(tensors.Run(), ONEPASS_OK) << onepass_last_error();
      EXPECT_EQ(tensors.Get("y", 1000), std::vector<float>(1000, static_cast<float>(t)));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ApiTest, PreparedKernelsAreKeptInTheFolder) {
  const onepass::TemporaryFolder folder;
  const std::string cache = folder / "cache";
  onepass_options options = MemoryOnly();
  options.cache_dir = cache.c_str();
  const ProblemHandle problem = Parsed("relu.fwd f16 64");
  ASSERT_EQ(onepass_prepare(Opened(options).get(), problem.get(), 0, nullptr), ONEPASS_OK);
  EXPECT_FALSE(std::filesystem::is_empty(cache));
}

}  // namespace
