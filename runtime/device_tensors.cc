#include "runtime/device_tensors.h"

#include <algorithm>
#include <utility>

namespace onepass {

int64_t SpanBytes(const TensorSpec& spec) { return spec.span_elements() * SizeOf(spec.dtype); }

absl::StatusOr<DeviceAddress> DeviceTensors::AllocateOne(const Allocation& allocation) {
  if (allocation.bytes == 0) return DeviceAddress{0};
  absl::StatusOr<DeviceAddress> address = device_->Allocate(allocation);
  if (address.ok()) owned_.push_back(*address);
  return address;
}

absl::StatusOr<DeviceTensors> DeviceTensors::Allocate(Device& device, const Problem& problem) {
  DeviceTensors tensors(device);
  tensors.specs_ = TensorsOf(problem);
  for (const TensorSpec& spec : tensors.specs_) {
    if (spec.shares.has_value()) {
      tensors.buffers_[spec.role] = tensors.buffers_[*spec.shares];
      continue;
    }
    const auto address = tensors.AllocateOne({.bytes = SpanBytes(spec),
                                              .offset = OffsetOf(problem, spec.dtype),
                                              .label = spec.name(),
                                              .element_bytes = SizeOf(spec.dtype)});
    if (!address.ok()) return address.status();
    tensors.buffers_[spec.role] = *address;
  }
  return tensors;
}

DeviceTensors::DeviceTensors(DeviceTensors&& other) noexcept
    : device_(other.device_),
      specs_(std::move(other.specs_)),
      buffers_(other.buffers_),
      workspace_(other.workspace_),
      owned_(std::exchange(other.owned_, {})) {}

DeviceTensors::~DeviceTensors() {
  for (const DeviceAddress address : owned_) device_->Free(address).IgnoreError();
}

absl::Status DeviceTensors::AllocateWorkspace(const Schedule& schedule) {
  const auto address = AllocateOne({.bytes = schedule.workspace_bytes, .label = "workspace"});
  if (!address.ok()) return address.status();
  workspace_ = {.address = *address, .bytes = schedule.workspace_bytes};
  if (schedule.barrier_bytes == 0) return absl::OkStatus();
  return device_->Fill(workspace_.address, 0, schedule.barrier_bytes);
}

absl::Status DeviceTensors::CopyIn(llvm::ArrayRef<HostTensor> inputs) {
  for (const HostTensor& input : inputs) {
    if (input.bytes.empty()) continue;
    if (absl::Status s = device_->CopyIn(buffers_[input.spec.role], input.bytes); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status DeviceTensors::SpoilOutputs() {
  constexpr uint8_t kNanByte = 0xff;
  for (const TensorSpec& spec : specs_) {
    if (!spec.output || spec.shares.has_value() || spec.elements() == 0) continue;
    if (absl::Status s = device_->Fill(buffers_[spec.role], kNanByte, SpanBytes(spec)); !s.ok())
      return s;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<HostTensor>> DeviceTensors::CopyOutputs() const {
  std::vector<HostTensor> outputs;
  for (const TensorSpec& spec : specs_) {
    if (!spec.output) continue;
    HostTensor tensor{spec, std::vector<uint8_t>(SpanBytes(spec))};
    if (!tensor.bytes.empty()) {
      if (absl::Status s =
              device_->CopyOut(llvm::MutableArrayRef(tensor.bytes), buffers_[spec.role]);
          !s.ok())
        return s;
    }
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

}  // namespace onepass
