// Branches, exits, block-wide barriers, fences.
#include "absl/strings/str_format.h"
#include "runtime/sim/checker.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/exec.h"

namespace onepass::sim {
namespace {

// flags of a barrier operation. r[0] is the result of a reduction, r[1] the barrier, r[2] the
// number of threads, r[3] the predicate.
constexpr uint32_t kHasThreads = 1;
constexpr uint32_t kReduceAnd = 2;
constexpr uint32_t kReduceOr = 4;
constexpr uint32_t kReducePopc = 8;
constexpr uint32_t kNegated = 16;
constexpr uint32_t kAligned = 32;
constexpr uint32_t kReduces = kReduceAnd | kReduceOr | kReducePopc;

const Op* Jump(const Op& op, Warp& warp) { return GoTo(warp, &op + op.offset); }

const Op* PseudoJump(const Op& op, Warp& warp) {
  ++warp.unissued;
  return GoTo(warp, &op + op.offset);
}

const Op* Join(const Op& op, Warp& warp) {
  ++warp.unissued;
  if (warp.frontier != nullptr && &op >= warp.frontier) [[unlikely]] {
    return Reschedule(warp, &op);  // comes back here, merged with the paths that wait here
  }
  return &op + 1;
}

template <bool kNegate>
const Op* Branch(const Op& op, Warp& warp) {
  const uint32_t predicate = *warp.In<uint32_t>(op.r[0]);
  const uint32_t taken = (kNegate ? ~predicate : predicate) & warp.lanes;
  const Op* target = &op + op.offset;
  if (taken == 0) return GoTo(warp, &op + 1);
  if (taken == warp.lanes) return GoTo(warp, target);
  return Diverge(warp, target, taken, &op + 1);
}

const Op* Exit(const Op& op, Warp& warp) { return ExitLanes(warp, op, &op + 1); }

const Op* Nothing(const Op& op, Warp& warp) { return &op + 1; }

// flags of a fence.
constexpr uint32_t kBlockScope = 1;
constexpr uint32_t kClusterScope = 2;  // without clusters that of the block

const Op* Fence(const Op& op, Warp& warp) {
  if (Checker* checker = warp.block->launch->checker; checker != nullptr) {
    const bool one = warp.block->launch->cluster_blocks == 1;
    checker->Fence(warp, (op.flags & (one ? kBlockScope | kClusterScope : kBlockScope)) != 0);
  }
  return &op + 1;
}

Pick FenceOf(bool block_scope) { return Pick{&Fence, {}, {}, block_scope ? kBlockScope : 0}; }

const Op* Trap(const Op& op, Warp& warp) { return Fault(warp, op, warp.exec, "trap"); }

const Op* Nanosleep(const Op& op, Warp& warp) {
  --warp.unissued;  // Poll takes the operation for one that comes again
  return Poll(warp, &op + 1);
}

template <bool kWaits>
const Op* Barrier(const Op& op, Warp& warp) {
  if (warp.barrier_passed) {
    warp.barrier_passed = false;
    const uint32_t result = warp.barrier_result;
    if ((op.flags & kReduceAnd) != 0) warp.SetMask(op.r[0], (result & 2) != 0 ? kAllLanes : 0);
    if ((op.flags & kReduceOr) != 0) warp.SetMask(op.r[0], (result & 1) != 0 ? kAllLanes : 0);
    if ((op.flags & kReducePopc) != 0) {
      uint32_t* to = warp.Out<uint32_t>(op.r[0]);
      for (int i = 0; i < 32; ++i) {
        if ((warp.exec >> i & 1) != 0) to[i] = result >> 2;
      }
    }
    return &op + 1;
  }
  if (!HasLanes(warp, warp.live)) {
    ++warp.unissued;
    Checker* checker = warp.block->launch->checker;
    if (checker != nullptr && (op.flags & kAligned) != 0) checker->WaitForWarp(warp);
    return Reschedule(warp, &op, Path::State::kAtBarrier);
  }
  const uint32_t id = warp.In<uint32_t>(op.r[1])[std::countr_zero(warp.exec)];
  if (id > 15) return Fault(warp, op, warp.exec, "barrier beyond 15");
  if (const uint32_t threads = RequestOf(warp, op).expected; threads % 32 != 0) {
    return Fault(warp, op, warp.exec,
                 absl::StrFormat("a barrier of %d threads, which is no multiple of 32", threads));
  }
  if constexpr (!kWaits) {
    warp.block->Arrive(warp, op);
    return &op + 1;
  }
  return warp.StopAt(op, Stop::kBarrier);
}

}  // namespace

const Op* Guarded(const Op& op, Warp& warp) {
  const uint32_t predicate = warp.Mask(op.guard >> 1);
  warp.exec = warp.lanes & ((op.guard & 1) != 0 ? ~predicate : predicate);
  const Op* next = &op + 1;
  if (warp.exec != 0) next = op.inner(op, warp);
  warp.exec = warp.lanes;
  return next;
}

Pick CallPick() { return {&Nothing}; }
ExecFn JumpFn() { return &Jump; }
ExecFn PseudoJumpFn() { return &PseudoJump; }
ExecFn JoinFn() { return &Join; }
ExecFn BranchFn(bool negate) { return negate ? &Branch<true> : &Branch<false>; }
ExecFn ExitFn() { return &Exit; }

bool LeadsToExit(const Op* op) {
  for (int steps = 0; steps < 64; ++steps) {
    if (op->fn == &Exit) return true;
    const bool jump = op->fn == &Jump || op->fn == &PseudoJump;
    if (!jump && op->fn != &Join) return false;
    op += jump ? op->offset : 1;
  }
  return false;
}

bool SameUnalignedBarrier(const Op& a, const Op& b) {
  return a.flags == b.flags && a.r[1] == b.r[1] && a.r[2] == b.r[2] &&
         (a.flags & (kAligned | kReduces)) == 0;
}

BarrierRequest RequestOf(const Warp& warp, const Op& op) {
  const uint32_t lanes = warp.lanes != 0 ? warp.lanes : warp.live;
  const int lane = std::countr_zero(lanes);
  BarrierRequest request;
  request.barrier = static_cast<int>(warp.In<uint32_t>(op.r[1])[lane]);
  request.aligned = (op.flags & kAligned) != 0;
  if ((op.flags & kHasThreads) != 0) request.expected = warp.In<uint32_t>(op.r[2])[lane];
  if ((op.flags & kReduces) != 0) {
    request.reduces = true;
    request.predicate = *warp.In<uint32_t>(op.r[3]) ^ ((op.flags & kNegated) != 0 ? ~0u : 0);
  }
  return request;
}

std::optional<Pick> PickBarrier(Form& form, int operands, bool negated) {
  const bool cta = form.Take("cta");
  const bool aligned = form.base() == "bar" || form.Take("aligned");
  Pick pick;
  pick.flags = aligned ? kAligned : 0;
  pick.fn = &Barrier<true>;
  if (form.Take("red")) {
    const bool popc = form.Take("popc");
    pick.flags |= popc ? kReducePopc : form.Take("and") ? kReduceAnd : kReduceOr;
    if (!popc && (pick.flags & kReduceOr) != 0 && !form.Take("or")) return std::nullopt;
    if (!form.Take(popc ? "u32" : "pred")) return std::nullopt;
    pick.to = {popc ? Type::kB32 : Type::kPred};
    if (negated) pick.flags |= kNegated;
    operands -= 2;
  } else if (form.Take("arrive")) {
    pick.fn = &Barrier<false>;
  } else if (!form.Take("sync")) {
    return std::nullopt;
  }
  if (cta && form.base() == "bar" && !aligned) return std::nullopt;
  if (operands == 2) pick.flags |= kHasThreads;
  return pick;
}

namespace {

// Proxies are ways to the same memory; here there is one, and who forgot the fence is found by its
// count.
const Op* ProxyFence(const Op& op, Warp& warp) {
  ++warp.block->cluster->proxy_fences;
  return &op + 1;
}

std::optional<Pick> PickProxyFence(Form& form, bool order) {
  if (order) return std::nullopt;
  if (form.Take("alias")) return Pick{&Nothing};
  if (!form.Take("async")) return std::nullopt;
  for (const char* space : {"global", "shared::cta", "shared::cluster"}) form.Take(space);
  return Pick{&ProxyFence};
}

}  // namespace

std::optional<Pick> PickControl(Form& form) {
  const std::string_view base = form.base();
  if (base == "trap") return Pick{&Trap};
  if (base == "brkpt" || base == "pmevent") return Pick{&Nothing};
  if (base == "nanosleep" && form.Take("u32")) return Pick{&Nanosleep, {}, {Type::kB32}};
  // Launches do not overlap, so there is nothing to wait for.
  if (base == "griddepcontrol" && (form.Take("wait") || form.Take("launch_dependents"))) {
    return Pick{&Nothing};
  }
  if (base == "membar") {
    if (form.Take("cta")) return FenceOf(/*block_scope=*/true);
    if (form.Take("gl") || form.Take("sys")) return FenceOf(/*block_scope=*/false);
  }
  if (base == "fence") {
    const bool order =
        form.Take("acq_rel") || form.Take("sc") || form.Take("acquire") || form.Take("release");
    if (form.Take("mbarrier_init")) {
      return order && form.Take("cluster") ? std::optional(FenceOf(false)) : std::nullopt;
    }
    if (form.Take("proxy")) return PickProxyFence(form, order);
    const bool block = form.Take("cta");
    if (form.Take("cluster")) return Pick{&Fence, {}, {}, kClusterScope};
    const bool scope = block || form.Take("gpu") || form.Take("sys");
    if (scope || order) return FenceOf(block);
  }
  return std::nullopt;
}

}  // namespace onepass::sim
