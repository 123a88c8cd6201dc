// The closed forms of memory traffic that all strategies share.
#pragma once

#include <cstdint>

#include "codegen/counters.h"
#include "codegen/device_spec.h"
#include "codegen/divide.h"
#include "codegen/key.h"
#include "codegen/plan.h"
#include "codegen/sectors.h"

namespace onepass {

// Bytes of the tensors of one launch, each in whole 32-byte sectors.
struct TensorBytes {
  int64_t x = 0;
  int64_t residual = 0;
  int64_t y = 0;
  int64_t parameters_read = 0;     // scale, bias, given or running statistics
  int64_t parameters_written = 0;  // saved and running statistics
};
TensorBytes BytesOf(const Key& key, const Extents& extents);

constexpr int64_t WholeSectors(int64_t bytes) {
  return CeilDiv(bytes, kSectorBytes) * kSectorBytes;
}

// Whether accesses carry evict-first hints: those of 16 bytes. The sectors of narrower ones are
// still needed by a neighbour.
bool HasEvictionHints(const Key& key);

// Whether the second pass of multi_pass takes statistics that are saved anyway, rounded, so
// that there is no workspace, which would be noticeable traffic. So where a block reduces a few
// values by itself: none of 256 lies more than 16 deviations from the mean.
bool TakesSaved(const Plan& plan, const Extents& extents);

// The number of values of scale, of bias, and of each statistic that is given or running.
int64_t ParameterCount(const Key& key, const Extents& extents);

// L2 bytes of the parameters that rows of a sample norm share, beyond their first reading: L1
// serves them to the blocks of one SM.
int64_t SharedParameterBytes(const Key& key, const Extents& extents, const DeviceSpec& device);

// Every tensor moved once, plus `workspace` bytes that are written and stay in L2 until the end.
Counters OnePassCounters(const Key& key, const Extents& extents, int64_t workspace);

// x read twice, the second time in reverse: DESIGN section 4's formulas, with evict-first hints for
// 16-byte accesses, without for narrower ones.
Counters TwoPassCounters(const Key& key, const Extents& extents, int64_t workspace,
                         const DeviceSpec& device);

// Share of the SMs that work: of `blocks` that run `resident` at a time on an SM, averaged over the
// waves.
double BusyShare(int64_t blocks, int resident, const DeviceSpec& device);

}  // namespace onepass
