#include "codegen/traffic.h"

#include <algorithm>

#include "codegen/divide.h"
#include "codegen/operators.h"

namespace onepass {
namespace {

// Scale, bias, and two statistics, given or running.
int64_t ParameterTensors(const Key& key) {
  return (key.has_scale() ? 1 : 0) + (key.has_bias() ? 1 : 0) + (IsBatchNorm(key.op) ? 2 : 0);
}

int64_t SavedTensors(const Key& key) { return IsRmsNorm(key.op) ? 1 : 2; }

// Reductions, each with its own saved statistics.
int64_t RegionCount(const Key& key, const Extents& extents) {
  return key.geometry == Geometry::kRow ? extents.rows : key.inner;
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
  return extents.saves && plan.split == 1 && extents.reduced <= kFewValues;
}

int64_t ParameterCount(const Key& key, const Extents& extents) {
  switch (key.geometry) {
    case Geometry::kFlat:
      return key.channels;
    case Geometry::kRow:
      return extents.param_period;
    default:
      return key.inner;
  }
}

TensorBytes BytesOf(const Key& key, const Extents& extents) {
  TensorBytes bytes;
  bytes.x = bytes.y = WholeSectors(extents.elements * key.element_bytes());
  if (key.residual) bytes.residual = bytes.x;
  const int64_t parameter = WholeSectors(ParameterCount(key, extents) * SizeOf(key.param));
  if (IsNorm(key.op)) bytes.parameters_read = ParameterTensors(key) * parameter;
  if (key.op == Op::kBatchNormTrain) bytes.parameters_written = 2 * parameter;
  if (extents.saves) {
    const int64_t saved = RegionCount(key, extents) * SizeOf(AccumulationType(key.dtype));
    bytes.parameters_written += SavedTensors(key) * WholeSectors(saved);
  }
  return bytes;
}

int64_t SharedParameterBytes(const Key& key, const Extents& extents, const DeviceSpec& device) {
  if (IsBatchNorm(key.op)) return 0;
  const int64_t of_row = key.param_run == 0 ? 1 : extents.reduced / key.param_run;
  const int64_t by_rows = extents.rows * WholeSectors(of_row * SizeOf(key.param));
  const int64_t once = WholeSectors(ParameterCount(key, extents) * SizeOf(key.param));
  const int64_t asked = std::min(by_rows, device.sms * once);
  return ParameterTensors(key) * std::max<int64_t>(asked - once, 0);
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
