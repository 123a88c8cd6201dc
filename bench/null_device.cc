#include "bench/null_device.h"

#include <string>

namespace onepass::bench {
namespace {

class NullDevice final : public Device {
 public:
  const std::string& name() const override { return name_; }
  const DeviceSpec& spec() const override { return spec_; }
  bool simulated() const override { return false; }

  absl::StatusOr<DeviceAddress> Allocate(const Allocation&) override { return DeviceAddress{256}; }
  absl::Status Free(DeviceAddress) override { return absl::OkStatus(); }
  absl::Status CopyIn(DeviceAddress, llvm::ArrayRef<uint8_t>) override { return absl::OkStatus(); }
  absl::Status CopyOut(llvm::MutableArrayRef<uint8_t>, DeviceAddress) override {
    return absl::OkStatus();
  }
  absl::Status Fill(DeviceAddress, uint8_t, int64_t) override { return absl::OkStatus(); }
  absl::StatusOr<std::unique_ptr<LoadedModule>> Load(const Binary&,
                                                     llvm::ArrayRef<std::string>) override {
    return std::make_unique<LoadedModule>();
  }
  absl::Status Launch(const KernelLaunch&, Stream) override { return absl::OkStatus(); }
  absl::Status Synchronize(Stream) override { return absl::OkStatus(); }
  absl::Status BeginMeasure(Stream) override { return absl::OkStatus(); }
  absl::StatusOr<Measurement> EndMeasure(Stream) override { return Measurement(); }

 private:
  const std::string name_ = "null";
  const DeviceSpec spec_ = *FindDevice("h200");
};

}  // namespace

std::unique_ptr<Device> NewNullDevice() { return std::make_unique<NullDevice>(); }

}  // namespace onepass::bench
