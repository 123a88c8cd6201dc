#include "codegen/traffic.h"

#include <algorithm>

#include "codegen/divide.h"

namespace onepass {
namespace {

int64_t ParameterTensors(const Key& key) {
  return (key.has_scale() ? 1 : 0) + (key.has_bias() ? 1 : 0) +
         2;  // and two statistics, given or running
}

// What the second pass, in reverse, finds of x: all that L2 holds, where everything that is not
// needed again is evicted first; its share of L2 among all that the second pass touches, where
// narrow accesses carry no such hint.
int64_t FoundInL2(const Key& key, const TensorBytes& bytes, const DeviceSpec& device) {
  if (HasEvictionHints(key)) return device.l2_bytes;
  const double other = static_cast<double>(bytes.y + bytes.residual);
  const double x = static_cast<double>(bytes.x);
  return static_cast<int64_t>(static_cast<double>(device.l2_bytes) * x / (x + other));
}

}  // namespace

bool HasEvictionHints(const Key& key) { return key.access_bytes == 16; }

bool TakesSaved(const Plan& plan, const Extents& extents) {
  constexpr int64_t kFewValues = 256;
  return plan.split == 1 && extents.reduced <= kFewValues;
}

int64_t ChannelCount(const Key& key, const Extents& extents) {
  switch (key.geometry) {
    case Geometry::kFlat:
      return key.channels;
    case Geometry::kRow:
      return extents.rows;
    default:
      return key.inner;
  }
}

TensorBytes BytesOf(const Key& key, const Extents& extents) {
  TensorBytes bytes;
  bytes.x = bytes.y = WholeSectors(extents.elements * key.element_bytes());
  if (key.residual) bytes.residual = bytes.x;
  const int64_t channels = ChannelCount(key, extents);
  if (channels == 0) return bytes;
  const int64_t parameter = WholeSectors(channels * SizeOf(key.param));
  bytes.parameters_read = ParameterTensors(key) * parameter;
  if (key.op == Op::kBatchNormTrain) {
    bytes.parameters_written =
        2 * parameter + 2 * WholeSectors(channels * SizeOf(AccumulationType(key.dtype)));
  }
  return bytes;
}

Counters OnePassCounters(const Key& key, const Extents& extents, int64_t workspace) {
  const TensorBytes bytes = BytesOf(key, extents);
  Counters counters;
  counters.dram_read_bytes = bytes.x + bytes.residual + bytes.parameters_read;
  counters.dram_write_bytes = bytes.y + bytes.parameters_written + workspace;
  counters.l2_bytes = counters.dram_bytes();
  counters.launches = 1;
  return counters;
}

Counters TwoPassCounters(const Key& key, const Extents& extents, int64_t workspace,
                         const DeviceSpec& device) {
  Counters counters = OnePassCounters(key, extents, workspace);
  const TensorBytes bytes = BytesOf(key, extents);
  counters.dram_read_bytes += bytes.x - std::min(bytes.x, FoundInL2(key, bytes, device));
  counters.l2_bytes += bytes.x;
  counters.launches = 2;
  return counters;
}

double BusyShare(int64_t blocks, int resident, const DeviceSpec& device) {
  if (blocks <= 0) return 1.0;
  if (blocks <= device.sms) return static_cast<double>(blocks) / device.sms;
  const int64_t wave = int64_t{device.sms} * resident;
  if (blocks <= wave) return 1.0;
  // A memory-limited block gets a larger share of the bandwidth in a thin last wave; half of what
  // is missing counts.
  const double waves = static_cast<double>(blocks) / static_cast<double>(wave);
  const double whole = static_cast<double>(CeilDiv(blocks, wave));
  return 0.5 + 0.5 * waves / whole;
}

}  // namespace onepass
