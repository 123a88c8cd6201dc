#include "runtime/device/cuda_device.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/device/registry.h"
#include "runtime/dynamic_library.h"
#include "tests/runtime/device/fake_libcuda.h"

namespace onepass {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// One pointer and a number.
struct Argument {
  DeviceAddress x = 0;
  int64_t n = 0;
};

const FakeKernel kKernel = {.name = "k",
                            .argument_bytes = sizeof(Argument),
                            .static_shared_bytes = 1024,
                            .max_threads = 512,
                            .pointer_offsets = {0}};

class CudaDeviceTest : public testing::Test {
 protected:
  CudaDeviceTest()
      : fake_(*(*DynamicLibrary::Open(ONEPASS_FAKE_LIBCUDA)).Find<FakeCuda*()>("FakeCudaState")()) {
    fake_.Reset();
  }

  ~CudaDeviceTest() override {
    device_.reset();
    EXPECT_THAT(fake_.complaints, IsEmpty());
    EXPECT_EQ(fake_.alive(), 0) << "everything is given back";
  }

  absl::StatusOr<std::unique_ptr<Device>> Open(int ordinal = 0) {
    DeviceOptions options;
    options.cuda_driver = ONEPASS_FAKE_LIBCUDA;
    return OpenCudaDevice(ordinal, options);
  }

  Device& device() {
    if (device_ == nullptr) device_ = *Open();
    return *device_;
  }

  std::unique_ptr<LoadedModule> LoadKernel() {
    Binary binary;
    binary.cubin = FakeCubin(90, {kKernel});
    const std::vector<std::string> names = {"k"};
    return *device().Load(binary, names);
  }

  DeviceAddress Allocate(int64_t bytes) {
    Allocation allocation;
    allocation.bytes = bytes;
    return *device().Allocate(allocation);
  }

  absl::Status Launch(const LoadedModule& module, const LaunchShape& shape, Stream stream = 0) {
    if (x_ == 0) x_ = Allocate(256);
    Argument argument{.x = x_, .n = 7};
    KernelLaunch launch;
    launch.module = &module;
    launch.shape = shape;
    launch.arguments =
        llvm::ArrayRef(reinterpret_cast<const uint8_t*>(&argument), sizeof(argument));
    return device().Launch(launch, stream);
  }

  // What was complained about since the last time.
  std::vector<std::string> TakeComplaints() { return std::exchange(fake_.complaints, {}); }

  FakeCuda& fake_;
  std::unique_ptr<Device> device_;
  DeviceAddress x_ = 0;
};

LaunchShape Shape(std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block) {
  LaunchShape shape;
  shape.grid = grid;
  shape.block = block;
  return shape;
}

TEST_F(CudaDeviceTest, MissingDriverSaysWhatBringsIt) {
  DeviceOptions options;
  options.cuda_driver = "libno-such-driver.so.1";
  absl::Status status = OpenCudaDevice(0, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("libno-such-driver.so.1"), HasSubstr("NVIDIA's driver")));
}

TEST_F(CudaDeviceTest, LibraryThatIsNoDriverIsUnavailable) {
  DeviceOptions options;
  options.cuda_driver = "libm.so.6";
  EXPECT_EQ(OpenCudaDevice(0, options).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(CudaDeviceTest, DriverThatDoesNotStartIsUnavailable) {
  // No device, a stub library, a driver that does not fit its kernel module.
  for (int code : {100, 34, 803, 999}) {
    fake_.failures["cuInit"] = code;
    EXPECT_EQ(Open().status().code(), absl::StatusCode::kUnavailable) << code;
  }
}

TEST_F(CudaDeviceTest, MachineWithoutGpuIsUnavailable) {
  fake_.gpus.clear();
  absl::Status status = Open().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("CUDA_ERROR_NO_DEVICE"));
}

TEST_F(CudaDeviceTest, OrdinalBeyondTheGpusIsUnavailable) {
  absl::Status status = Open(1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cuda:1"));
}

TEST_F(CudaDeviceTest, SpecIsWhatTheDriverTells) {
  const DeviceSpec& spec = device().spec();
  EXPECT_EQ(device().name(), "cuda:0");
  EXPECT_FALSE(device().simulated());
  EXPECT_EQ(spec.name, "NVIDIA H200");
  EXPECT_EQ(spec.arch(), "sm_90");
  EXPECT_EQ(spec.sms, 132);
  EXPECT_EQ(spec.max_threads_per_sm, 2048);
  EXPECT_EQ(spec.max_blocks_per_sm, 32);
  EXPECT_EQ(spec.registers_per_sm, 65536);
  EXPECT_EQ(spec.shared_bytes_per_sm, 233472);
  EXPECT_EQ(spec.shared_bytes_per_block, 232448);
  EXPECT_EQ(spec.l2_bytes, 62914560);
  EXPECT_EQ(spec.global_bytes, 150'000'000'000);
  EXPECT_DOUBLE_EQ(spec.clock_ghz, 1.98);
  // The data sheet says 4.8 TB/s, and a copy reaches about nine tenths.
  EXPECT_NEAR(spec.dram_gbps, 4400, 100);
  EXPECT_GT(spec.l2_gbps, spec.dram_gbps);
  EXPECT_GT(spec.latency_ns, 0);
  EXPECT_GT(spec.launch_us, 0);
  EXPECT_GT(spec.grid_barrier_us, 0);
}

TEST_F(CudaDeviceTest, UnknownModelGetsASpecToo) {
  FakeGpu& gpu = fake_.gpus[0];
  gpu.name = "NVIDIA Something New";
  gpu.attributes[75] = 13;
  gpu.attributes[76] = 3;
  gpu.attributes.erase(36);  // newer drivers need not tell the memory's clock
  const DeviceSpec& spec = device().spec();
  EXPECT_EQ(spec.arch(), "sm_133");
  EXPECT_GT(spec.dram_gbps, 0);
  EXPECT_GT(spec.l2_gbps, 0);
}

TEST_F(CudaDeviceTest, SecondGpuIsAddressedByItsOwnHandle) {
  fake_.gpus.push_back(FakeH200());
  fake_.gpus[1].name = "the second";
  device_ = *Open(1);
  EXPECT_EQ(device_->name(), "cuda:1");
  EXPECT_EQ(device_->spec().name, "the second");
  DeviceAddress address = Allocate(16);
  EXPECT_TRUE(device_->Free(address).ok());
}

TEST_F(CudaDeviceTest, BytesComeBackAsTheyWentIn) {
  DeviceAddress address = Allocate(64);
  std::vector<uint8_t> sent(64), received(64);
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<uint8_t>(3 * i);
  EXPECT_TRUE(device().CopyIn(address, sent).ok());
  EXPECT_TRUE(device().Fill(address + 8, 0xab, 4).ok());
  EXPECT_TRUE(device().CopyOut(llvm::MutableArrayRef(received), address).ok());
  std::fill_n(sent.begin() + 8, 4, 0xab);
  EXPECT_EQ(received, sent);
  EXPECT_TRUE(device().Free(address).ok());
}

TEST_F(CudaDeviceTest, NothingIsCopiedWhereThereIsNothingToCopy) {
  DeviceAddress address = Allocate(0);
  EXPECT_TRUE(device().CopyIn(address, {}).ok());
  EXPECT_TRUE(device().CopyOut({}, address).ok());
  EXPECT_TRUE(device().Fill(address, 1, 0).ok());
}

TEST_F(CudaDeviceTest, AddressIsOffsetModuloTwiceTheOffset) {
  for (int64_t offset : {1, 2, 4, 8, 16, 32, 4096}) {
    Allocation allocation;
    allocation.bytes = 100;
    allocation.offset = offset;
    absl::StatusOr<DeviceAddress> address = device().Allocate(allocation);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(*address % (2 * offset), offset);
    EXPECT_TRUE(device().Fill(*address, 0, 100).ok()) << "all of it can be used";
    EXPECT_TRUE(device().Free(*address).ok());
  }
}

TEST_F(CudaDeviceTest, UnalignedOffsetWorksFromAnyBase) {
  fake_.next_address += 512 * 3;
  Allocation allocation;
  allocation.bytes = 1;
  allocation.offset = 1024;
  DeviceAddress address = *device().Allocate(allocation);
  EXPECT_EQ(address % 2048, 1024);
}

TEST_F(CudaDeviceTest, OutOfMemoryNamesTheTensor) {
  Allocation allocation;
  allocation.bytes = int64_t{1} << 40;
  allocation.label = "dx";
  absl::Status status = device().Allocate(allocation).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("cuMemAlloc"), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"),
                    HasSubstr("out of memory"), HasSubstr("dx")));
}

TEST_F(CudaDeviceTest, WrongMemoryRequestsAreInvalidArguments) {
  DeviceAddress address = Allocate(64);
  EXPECT_TRUE(absl::IsInvalidArgument(device().Free(address + 1)));
  EXPECT_TRUE(absl::IsInvalidArgument(device().Fill(address, 0, 65)));
  EXPECT_TRUE(absl::IsInvalidArgument(device().Fill(address, 0, -1)));
  std::vector<uint8_t> bytes(65);
  EXPECT_TRUE(absl::IsInvalidArgument(device().CopyIn(address, bytes)));
  EXPECT_TRUE(absl::IsInvalidArgument(device().CopyOut(llvm::MutableArrayRef(bytes), address)));
  EXPECT_THAT(TakeComplaints(), Contains("cuMemsetD8: outside of allocations"));
  EXPECT_TRUE(device().Free(address).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(device().Free(address))) << "only once";
}

TEST_F(CudaDeviceTest, LaunchPassesShapeArgumentAndStream) {
  fake_.streams = {0x5555};
  auto module = LoadKernel();
  LaunchShape shape = Shape({70'000, 2, 3}, {64, 4, 2});
  shape.shared_bytes = 200'000;
  ASSERT_TRUE(Launch(*module, shape, 0x5555).ok());
  ASSERT_EQ(fake_.launches.size(), 1);
  const FakeLaunch& seen = fake_.launches[0];
  EXPECT_EQ(seen.kernel, "k");
  EXPECT_EQ(seen.grid, shape.grid);
  EXPECT_EQ(seen.block, shape.block);
  EXPECT_EQ(seen.cluster, shape.cluster);
  EXPECT_EQ(seen.shared_bytes, 200'000u) << "beyond what a kernel may have unasked";
  EXPECT_FALSE(seen.cooperative);
  EXPECT_EQ(seen.stream, 0x5555u);
  Argument argument;
  std::memcpy(&argument, seen.argument.data(), sizeof(argument));
  EXPECT_EQ(argument.x, x_);
  EXPECT_EQ(argument.n, 7);
}

TEST_F(CudaDeviceTest, ClusterOfSixteenAndCooperativeLaunchAreAskedFor) {
  auto module = LoadKernel();
  LaunchShape shape = Shape({32, 1, 1}, {512, 1, 1});
  shape.cluster = {16, 1, 1};
  shape.cooperative = true;
  ASSERT_TRUE(Launch(*module, shape).ok());
  EXPECT_EQ(fake_.launches[0].cluster, shape.cluster);
  EXPECT_TRUE(fake_.launches[0].cooperative);
}

TEST_F(CudaDeviceTest, LaunchesThatTheChipCannotDoAreInvalidArguments) {
  auto module = LoadKernel();
  LaunchShape cooperative = Shape({132 * 4 + 1, 1, 1}, {512, 1, 1});
  cooperative.cooperative = true;
  LaunchShape cluster = Shape({17, 1, 1}, {32, 1, 1});
  cluster.cluster = {17, 1, 1};
  LaunchShape shared = Shape({1, 1, 1}, {32, 1, 1});
  shared.shared_bytes = 232448;
  LaunchShape no_such_kernel = Shape({1, 1, 1}, {32, 1, 1});
  no_such_kernel.kernel = 1;
  for (const LaunchShape& shape :
       {Shape({0, 1, 1}, {32, 1, 1}), Shape({1, 65'536, 1}, {32, 1, 1}),
        Shape({1, 1, 1}, {513, 1, 1}), cooperative, cluster, shared, no_such_kernel}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Launch(*module, shape)));
  }
  EXPECT_THAT(TakeComplaints(), testing::SizeIs(6));
  EXPECT_THAT(fake_.launches, IsEmpty());
}

TEST_F(CudaDeviceTest, ArgumentOfAnotherSizeNeverReachesTheDriver) {
  auto module = LoadKernel();
  const std::vector<uint8_t> short_argument(sizeof(Argument) - 8);
  KernelLaunch launch;
  launch.module = module.get();
  launch.arguments = short_argument;
  absl::Status status = device().Launch(launch, 0);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("16 bytes of arguments, not 8"));
  EXPECT_THAT(fake_.calls, Not(Contains("cuLaunchKernelEx")));
}

TEST_F(CudaDeviceTest, KernelsAreInTheOrderAskedFor) {
  FakeKernel first = kKernel, second = kKernel;
  first.name = "zeta";
  second.name = "alpha";
  Binary binary;
  binary.cubin = FakeCubin(90, {second, first});
  const std::vector<std::string> names = {"zeta", "alpha"};
  auto module = *device().Load(binary, names);
  LaunchShape shape = Shape({1, 1, 1}, {32, 1, 1});
  shape.kernel = 1;
  ASSERT_TRUE(Launch(*module, shape).ok());
  EXPECT_EQ(fake_.launches[0].kernel, "alpha");
}

TEST_F(CudaDeviceTest, CubinIsPreferredAndPtxIsTheWayOut) {
  FakeKernel from_ptx = kKernel;
  from_ptx.name = "from_ptx";
  Binary binary;
  binary.ptx = FakePtx({from_ptx});
  const std::vector<std::string> cubin_name = {"k"}, ptx_name = {"from_ptx"};
  binary.cubin = FakeCubin(90, {kKernel});
  EXPECT_TRUE(device().Load(binary, cubin_name).ok());
  binary.cubin = FakeCubin(80, {kKernel});
  EXPECT_TRUE(device().Load(binary, ptx_name).ok()) << "machine code for another chip";
  binary.cubin.clear();
  EXPECT_TRUE(device().Load(binary, ptx_name).ok());
}

TEST_F(CudaDeviceTest, BinaryThatCannotBeLoadedIsAnErrorWithTheDriversLog) {
  const std::vector<std::string> names = {"k"}, others = {"absent"};
  Binary binary;
  EXPECT_TRUE(absl::IsInvalidArgument(device().Load(binary, names).status()));
  binary.ptx = "not ptx";
  absl::Status status = device().Load(binary, names).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("cuModuleLoadDataEx"), HasSubstr("what is this?")));
  binary.ptx = FakePtx({kKernel});
  status = device().Load(binary, others).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("absent"));
}

TEST_F(CudaDeviceTest, EverythingIsLoadedBeforeTheFirstLaunch) {
  auto module = LoadKernel();
  ASSERT_TRUE(Launch(*module, Shape({1, 1, 1}, {32, 1, 1})).ok());
  fake_.calls.clear();
  ASSERT_TRUE(Launch(*module, Shape({1, 1, 1}, {32, 1, 1})).ok());
  EXPECT_THAT(fake_.calls, ElementsAre("cuCtxGetCurrent", "cuCtxPushCurrent", "cuLaunchKernelEx",
                                       "cuCtxPopCurrent"));
}

TEST_F(CudaDeviceTest, ChipBeforeClustersIsNotAskedForThem) {
  fake_.gpus[0].attributes[75] = 8;
  Binary binary;
  binary.cubin = FakeCubin(80, {kKernel});
  const std::vector<std::string> names = {"k"};
  auto module = device().Load(binary, names);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(Launch(**module, Shape({1, 1, 1}, {32, 1, 1})).ok());
}

TEST_F(CudaDeviceTest, MeasurementIsTheTimeBetweenTwoEvents) {
  auto module = LoadKernel();
  EXPECT_FALSE(device().EndMeasure(0).ok()) << "none was begun";
  for (int launches : {3, 1}) {
    ASSERT_TRUE(device().BeginMeasure(0).ok());
    for (int i = 0; i < launches; ++i) {
      ASSERT_TRUE(Launch(*module, Shape({1, 1, 1}, {32, 1, 1})).ok());
    }
    absl::StatusOr<Measurement> measurement = device().EndMeasure(0);
    ASSERT_TRUE(measurement.ok()) << measurement.status();
    EXPECT_EQ(measurement->microseconds, 250.0 * launches);
    EXPECT_FALSE(measurement->counters.has_value());
  }
  EXPECT_EQ(fake_.events.size(), 2) << "the events are made once";
}

TEST_F(CudaDeviceTest, FaultOfAKernelIsAborted) {
  auto module = LoadKernel();
  ASSERT_TRUE(Launch(*module, Shape({1, 1, 1}, {32, 1, 1})).ok());
  fake_.failures["cuStreamSynchronize"] = 700;
  absl::Status status = device().Synchronize(0);
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("cuStreamSynchronize"), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS")));
}

TEST_F(CudaDeviceTest, UnknownErrorIsNamedByItsNumber) {
  device();
  fake_.failures["cuStreamSynchronize"] = 12345;
  absl::Status status = device().Synchronize(0);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("12345"));
}

TEST_F(CudaDeviceTest, EveryCallThatFailsFailsTheMethodThatMadeIt) {
  const std::vector<std::string> names = {"k"};
  Binary binary;
  binary.cubin = FakeCubin(90, {kKernel});
  auto module = LoadKernel();
  ASSERT_TRUE(Launch(*module, Shape({1, 1, 1}, {32, 1, 1})).ok());
  std::vector<uint8_t> byte(1);
  struct Row {
    std::string call;
    std::function<absl::Status()> method;
  };
  const Row rows[] = {
      {"cuCtxGetCurrent", [&] { return device().Synchronize(0); }},
      {"cuCtxPushCurrent", [&] { return device().Synchronize(0); }},
      {"cuMemcpyHtoD", [&] { return device().CopyIn(x_, byte); }},
      {"cuStreamSynchronize", [&] { return device().CopyIn(x_, byte); }},
      {"cuMemcpyDtoH", [&] { return device().CopyOut(llvm::MutableArrayRef(byte), x_); }},
      {"cuMemsetD8", [&] { return device().Fill(x_, 0, 1); }},
      {"cuModuleLoadDataEx", [&] { return device().Load(binary, names).status(); }},
      {"cuModuleGetFunction", [&] { return device().Load(binary, names).status(); }},
      {"cuFuncLoad", [&] { return device().Load(binary, names).status(); }},
      {"cuFuncGetParamInfo", [&] { return device().Load(binary, names).status(); }},
      {"cuFuncGetAttribute", [&] { return device().Load(binary, names).status(); }},
      {"cuFuncSetAttribute", [&] { return device().Load(binary, names).status(); }},
      {"cuLaunchKernelEx",
       [&] {
         return Launch(*module, Shape({1, 1, 1}, {32, 1, 1}));
       }},
      {"cuEventCreate", [&] { return device().BeginMeasure(0); }},
      {"cuEventRecord", [&] { return device().BeginMeasure(0); }},
      {"cuEventSynchronize", [&] { return device().EndMeasure(0).status(); }},
      {"cuEventElapsedTime", [&] { return device().EndMeasure(0).status(); }},
      {"cuDeviceGetCount", [&] { return Open().status(); }},
      {"cuDeviceGet", [&] { return Open().status(); }},
      {"cuDeviceGetName", [&] { return Open().status(); }},
      {"cuDeviceTotalMem", [&] { return Open().status(); }},
      {"cuDeviceGetAttribute", [&] { return Open().status(); }},
      {"cuDevicePrimaryCtxRetain", [&] { return Open().status(); }},
  };
  for (const Row& row : rows) {
    fake_.failures = {{row.call, 999}};
    EXPECT_EQ(row.method().code(), absl::StatusCode::kInternal) << row.call;
    fake_.failures.clear();
    EXPECT_TRUE(device().Synchronize(0).ok()) << "after a failing " << row.call;
  }
  module.reset();
}

TEST_F(CudaDeviceTest, CallersContextIsLeftAsItWas) {
  fake_.gpus.push_back(FakeH200());
  auto other = *Open(1);
  device_ = *Open(0);
  // The engine around us computes on the other GPU.
  auto driver = *CudaDriver::Load(ONEPASS_FAKE_LIBCUDA);
  auto primary = *RetainedPrimary::Of(driver, *driver->DeviceAt(1));
  ASSERT_TRUE(driver->PushCurrent(primary->handle()).ok());
  Allocate(16);
  EXPECT_EQ(*driver->Current(), primary->handle());
  fake_.calls.clear();
  EXPECT_TRUE(other->Synchronize(0).ok());
  EXPECT_THAT(fake_.calls, ElementsAre("cuCtxGetCurrent", "cuStreamSynchronize"))
      << "where the context is current already, nothing is pushed";
  EXPECT_TRUE(driver->PopCurrent().ok());
}

TEST_F(CudaDeviceTest, ThreadsShareADevice) {
  auto module = LoadKernel();
  x_ = Allocate(256);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        EXPECT_TRUE(Launch(*module, Shape({1, 1, 1}, {32, 1, 1})).ok());
        EXPECT_TRUE(device().Free(Allocate(64)).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fake_.launches.size(), 200);
}

}  // namespace
}  // namespace onepass
