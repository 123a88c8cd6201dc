// st.async and red.async: stores into a cluster's shared memory that end at an mbarrier.
#include <cstring>

#include "runtime/sim/async_copy.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/combine.h"
#include "runtime/sim/lane_bytes.h"

namespace onepass::sim {
namespace {

// st.async, red.async: r[0] destination, r[1...] values, then the mbarrier. flags: bytes of a
// value, how many, and for red.async the index of its function plus one.
constexpr int kValuesShift = 4;
constexpr int kCombineShift = 8;

const Op* StoreAsync(const Op& op, Warp& warp) {
  const int bytes = static_cast<int>(op.flags & 15);
  const int values = static_cast<int>(op.flags >> kValuesShift & 15);
  const uint32_t combine = op.flags >> kCombineShift;
  const CopyTag tag = TagFor(warp);
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    Delivery delivery{.bytes = int64_t{bytes} * values, .warp = &warp, .op = &op};
    if (combine != 0) delivery.combine = CombineAt(combine - 1);
    delivery.lane = lane;
    delivery.tag = tag;
    const uint64_t to = warp.In<uint64_t>(op.r[0])[lane];
    delivery.to = SharedBytes(op, warp, lane, {to, delivery.bytes, delivery.bytes, true});
    if (delivery.to == nullptr) return nullptr;
    const uint64_t barrier = warp.In<uint64_t>(op.r[1 + values])[lane];
    delivery.barrier = SharedBytes(op, warp, lane, {barrier, 8, 8, /*store=*/true});
    if (delivery.barrier == nullptr) return nullptr;
    for (int i = 0; i < values; ++i) {
      const uint64_t value =
          bytes == 8 ? warp.In<uint64_t>(op.r[1 + i])[lane] : warp.In<uint32_t>(op.r[1 + i])[lane];
      std::memcpy(delivery.value + i * bytes, &value, bytes);
    }
    warp.block->cluster->deliveries.push_back(delivery);
    const auto size = static_cast<uint32_t>(delivery.bytes);
    CheckCopy(op, warp, lane, {.tag = tag, .to = to, .size = size, .updates = combine != 0});
  }
  return &op + 1;
}

}  // namespace

std::optional<AsyncPick> PickAsyncStore(Form& form) {
  form.Take("weak");
  form.Take("relaxed");
  form.Take("cluster");
  form.Take("shared::cluster");
  if (!form.Take("async") || !form.Take("mbarrier::complete_tx::bytes")) return std::nullopt;
  uint32_t values = 1;
  if (form.Take("v2")) values = 2;
  if (form.Take("v4")) values = 4;
  const auto type = form.TakeType();
  if (!type || (BitsOf(*type) != 32 && BitsOf(*type) != 64)) return std::nullopt;
  const uint32_t bytes = static_cast<uint32_t>(BitsOf(*type) / 8);
  if (bytes * values > 16) return std::nullopt;
  Pick pick{&StoreAsync, {}, {Type::kB64}, bytes | values << kValuesShift};
  if (form.base() == "red") {
    const auto combine = TakeCombine(form, *type, /*global=*/false);
    if (!combine || values != 1) return std::nullopt;
    pick.flags |= (*combine + 1) << kCombineShift;
  }
  for (uint32_t i = 0; i < values; ++i) pick.from.push_back(*type);
  pick.from.push_back(Type::kB64);
  return AsyncPick{pick, {Space::kSharedCluster, Space::kSharedCluster}};
}

}  // namespace onepass::sim
