#include "runtime/engine.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "cache/entry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/simulated_case.h"
#include "tests/runtime/temporary_folder.h"

namespace onepass {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kAlignment = 16;
constexpr const char* kSmallest = "relu.fwd f32 8";
constexpr const char* kLines[] = {kSmallest, "batch_norm.infer f16 2x8x3x3 act=relu",
                                  "batch_norm.train f32 4x8x5x5",
                                  "batch_norm.train f16 4x8x5x5:nhwc"};

Options InFolder(const std::string& folder) {
  Options options;
  options.cache_dir = folder;
  return options;
}

// A process as the cache sees it: its own memory in front of a folder that others share.
class Process {
 public:
  explicit Process(const std::string& folder)
      : store_(OpenStore(InFolder(folder), nullptr)), engine_(NewEngine()) {}

  Engine& engine() { return *engine_; }
  cache::Store& store() { return *store_; }
  // Another one of the same process: nothing is loaded, all is in memory.
  std::unique_ptr<Engine> NewEngine() {
    static const std::shared_ptr<Nvrtc> nvrtc = *Nvrtc::Load(TestOptions().toolkit);
    return std::make_unique<Engine>(Device(), *store_, nvrtc);
  }
  static onepass::Device& Device() { return SessionOn("sim:h200").device(); }

 private:
  std::unique_ptr<cache::Store> store_;
  std::unique_ptr<Engine> engine_;
};

Tier TierOf(Engine& engine, const char* line) {
  const auto kernel = engine.Prepare(ProblemOf(line), kAlignment);
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  return kernel.ok() ? (*kernel)->tier : Tier::kNone;
}

std::string OnlyFileIn(const std::string& folder) {
  std::string found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(found, "") << "one entry was expected";
    found = entry.path().string();
  }
  return found;
}

void FlipByte(const std::string& path, int64_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const char byte = static_cast<char>(file.get() ^ 0x10);
  file.seekp(at);
  file.put(byte);
}

TEST(EngineTest, SecondProcessFindsEveryKernelOnDisk) {
  const TemporaryFolder folder;
  Process first(folder.path());
  for (const char* line : kLines) EXPECT_EQ(TierOf(first.engine(), line), Tier::kMiss) << line;
  Process second(folder.path());
  for (const char* line : kLines) EXPECT_EQ(TierOf(second.engine(), line), Tier::kDisk) << line;
  const auto third = second.NewEngine();
  for (const char* line : kLines) EXPECT_EQ(TierOf(*third, line), Tier::kMemory) << line;
  EXPECT_EQ(second.store().GetStats().misses, 0);
}

TEST(EngineTest, KernelFromDiskIsTheOneThatWasCompiled) {
  const TemporaryFolder folder;
  Process first(folder.path()), second(folder.path());
  const auto made = *first.engine().Prepare(ProblemOf(kSmallest), kAlignment);
  const auto found = *second.engine().Prepare(ProblemOf(kSmallest), kAlignment);
  EXPECT_GT(made->compile_ms, 0);
  EXPECT_EQ(found->compile_ms, 0);
  EXPECT_EQ(found->binary.cubin, made->binary.cubin);
  EXPECT_EQ(found->binary.ptx, made->binary.ptx);
  EXPECT_EQ(found->binary.resources, made->binary.resources);
}

TEST(EngineTest, FlippedByteIsAMissThatIsRebuiltAndCounted) {
  const TemporaryFolder folder;
  { EXPECT_EQ(TierOf(Process(folder.path()).engine(), kSmallest), Tier::kMiss); }
  const std::string path = OnlyFileIn(folder.path());
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path));
  // The magic, a length, the preimage, the payload, the checksum.
  for (const int64_t at : {int64_t{0}, int64_t{15}, int64_t{100}, size / 2, size - 1}) {
    FlipByte(path, at);
    Process damaged(folder.path());
    EXPECT_EQ(TierOf(damaged.engine(), kSmallest), Tier::kMiss) << "byte " << at;
    EXPECT_EQ(damaged.store().GetStats().damaged, 1) << "byte " << at;
    Process rebuilt(folder.path());
    EXPECT_EQ(TierOf(rebuilt.engine(), kSmallest), Tier::kDisk) << "byte " << at;
    EXPECT_EQ(rebuilt.store().GetStats().damaged, 0);
  }
}

// An entry that is whole, but whose payload is no binary: as another version would leave it.
TEST(EngineTest, PayloadThatIsNoBinaryIsRebuilt) {
  const TemporaryFolder folder;
  { EXPECT_EQ(TierOf(Process(folder.path()).engine(), kSmallest), Tier::kMiss); }
  Process process(folder.path());
  const cache::Digest digest = process.store().List()[0].digest;
  const std::string preimage = process.store().Read(digest)->preimage;
  process.store().Put(digest, preimage, "no binary");
  EXPECT_EQ(TierOf(process.engine(), kSmallest), Tier::kMiss);
  EXPECT_EQ(TierOf(Process(folder.path()).engine(), kSmallest), Tier::kDisk);
}

TEST(EngineTest, ChipsOfOtherArchitecturesHaveBinariesOfTheirOwn) {
  const TemporaryFolder folder;
  Process process(folder.path());
  const auto nvrtc = *Nvrtc::Load(TestOptions().toolkit);
  for (const char* chip : {"sim:a100", "sim:h200", "sim:b200"}) {
    Engine engine(SessionOn(chip).device(), process.store(), nvrtc);
    EXPECT_EQ(TierOf(engine, kSmallest), Tier::kMiss) << chip;
  }
  Engine engine(SessionOn("sim:h100").device(), process.store(), nvrtc);
  EXPECT_EQ(TierOf(engine, kSmallest), Tier::kMemory) << "an H200's binary runs on an H100";
}

TEST(EngineTest, WithoutCacheNothingIsKept) {
  const TemporaryFolder folder;
  Process process(folder.path());
  EngineOptions options;
  options.use_cache = false;
  Engine engine(Process::Device(), process.store(), *Nvrtc::Load(TestOptions().toolkit), options);
  EXPECT_EQ(TierOf(engine, kSmallest), Tier::kOff);
  EXPECT_EQ(process.store().GetStats().entries, 0);
}

TEST(EngineTest, WithoutNvrtcItSaysSoInOneLine) {
  const TemporaryFolder folder;
  Process process(folder.path());
  Engine engine(Process::Device(), process.store(), nullptr);
  const absl::Status status = engine.Prepare(ProblemOf(kSmallest), kAlignment).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("NVRTC"));
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("\n")));
}

TEST(EngineTest, TwoThreadsThatAskForOneKernelCompileOnce) {
  const TemporaryFolder folder;
  Process process(folder.path());
  std::shared_ptr<const Kernel> kernels[2];
  const auto ask = [&](int i) {
    kernels[i] = *process.engine().Prepare(ProblemOf(kLines[2]), kAlignment);
  };
  std::thread other(ask, 1);
  ask(0);
  other.join();
  EXPECT_EQ(kernels[0], kernels[1]);
  EXPECT_EQ(process.store().GetStats().puts, 1);
}

TEST(EngineTest, InvalidProblemIsRefusedAtTheDoor) {
  const TemporaryFolder folder;
  Process process(folder.path());
  Problem problem = ProblemOf(kLines[2]);
  problem.eps = -1;
  EXPECT_EQ(process.engine().Prepare(problem, kAlignment).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(process.engine().Run(problem, {}, {}, 0).code(), absl::StatusCode::kInvalidArgument);
}

// Neither planned nor compiled nor launched: no buffer is touched, not even null ones.
TEST(EngineTest, EmptyProblemLaunchesNothing) {
  const TemporaryFolder folder;
  Process process(folder.path());
  for (const char* line : {"relu.fwd f32 0", "batch_norm.infer f16 0x4x5x5",
                           "batch_norm.train f32 4x2x0x3", "batch_norm.train f32 4x0x3x3:nhwc"}) {
    const Problem problem = ProblemOf(line);
    EXPECT_EQ(*process.engine().Prepare(problem, kAlignment), nullptr) << line;
    EXPECT_TRUE(process.engine().Run(problem, {}, {}, 0).ok()) << line;
    EXPECT_EQ(process.engine().ScheduleFor(problem, kAlignment)->launches.size(), 0) << line;
  }
  EXPECT_EQ(process.store().GetStats().puts, 0);
}

TEST(EngineTest, EmptyProblemLeavesRunningStatistics) {
  Session& session = SessionOn("sim:h200");
  const CaseResult result = RunCase(session, ProblemOf("batch_norm.train f32 4x3x0x3"), {});
  ASSERT_TRUE(result.report.ok()) << *result.report.error;
  EXPECT_EQ(result.report.cache, Tier::kNone);
  EXPECT_FALSE(result.report.plan.has_value());
  EXPECT_EQ(FindRole(result.outputs, Role::kY)->bytes.size(), 0);
  EXPECT_EQ(FindRole(result.outputs, Role::kRunningMeanOut)->bytes,
            FindRole(result.inputs, Role::kRunningMean)->bytes);
  EXPECT_EQ(FindRole(result.outputs, Role::kRunningVarOut)->bytes,
            FindRole(result.inputs, Role::kRunningVar)->bytes);
}

TEST(EngineTest, WorkspaceIsNeededWhereBlocksShareAReduction) {
  Session& session = SessionOn("sim:h200");
  const Problem problem = ProblemOf("batch_norm.train f16 16x64x28x28:nhwc");
  const auto split = session.EngineFor("persistent_grid").ScheduleFor(problem, kAlignment);
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_GT(split->workspace_bytes, 0);
  EXPECT_GT(split->barrier_bytes, 0);
  const auto whole = session.EngineFor("").ScheduleFor(ProblemOf(kLines[2]), kAlignment);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->workspace_bytes, 0);
}

TEST(EngineTest, UnknownStrategyIsRefusedForEmptyProblemsToo) {
  const TemporaryFolder folder;
  Process process(folder.path());
  EngineOptions options;
  options.strategy = "magic";
  Engine engine(Process::Device(), process.store(), nullptr, options);
  for (const char* line : {"relu.fwd f32 0", "relu.fwd f32 8"}) {
    EXPECT_EQ(engine.Prepare(ProblemOf(line), kAlignment).status().code(),
              absl::StatusCode::kInvalidArgument)
        << line;
  }
}

TEST(EngineTest, WorkspaceThatIsTooSmallIsRefused) {
  Session& session = SessionOn("sim:h200");
  Engine& engine = session.EngineFor("persistent_grid");
  const Problem problem = ProblemOf("batch_norm.train f16 16x64x28x28:nhwc");
  auto tensors = TensorsOn(session.device(), problem, GenerateInputs(problem, {}, 0, {}));
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  ASSERT_TRUE(tensors->AllocateWorkspace(*engine.ScheduleFor(problem, kAlignment)).ok());
  Workspace workspace = tensors->workspace();
  --workspace.bytes;
  EXPECT_EQ(engine.Run(problem, tensors->buffers(), workspace, 0).code(),
            absl::StatusCode::kInvalidArgument);
}

// The words are zeroed once by their owner; every launch leaves them zero for the next one.
TEST(EngineTest, LaunchesLeaveTheBarrierWordsZero) {
  Session& session = SessionOn("sim:h200");
  Device& device = session.device();
  Engine& engine = session.EngineFor("persistent_grid");
  const Problem problem = ProblemOf("batch_norm.train f16 16x64x28x28:nhwc");
  const auto inputs = GenerateInputs(problem, {}, 0, {});
  auto tensors = TensorsOn(device, problem, inputs);
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  const Schedule schedule = *engine.ScheduleFor(problem, kAlignment);
  ASSERT_TRUE(tensors->AllocateWorkspace(schedule).ok());
  for (int launch = 0; launch < 2; ++launch) {
    ASSERT_TRUE(engine.Run(problem, tensors->buffers(), tensors->workspace(), 0).ok());
    std::vector<uint8_t> words(schedule.barrier_bytes, 1);
    ASSERT_TRUE(device.CopyOut(llvm::MutableArrayRef(words), tensors->workspace().address).ok());
    EXPECT_EQ(words, std::vector<uint8_t>(schedule.barrier_bytes, 0));
  }
}

}  // namespace
}  // namespace onepass
