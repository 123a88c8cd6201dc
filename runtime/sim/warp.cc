#include "runtime/sim/warp.h"

#include "absl/strings/str_cat.h"
#include "runtime/sim/block.h"
#include "runtime/sim/checker.h"
#include "runtime/sim/waiting.h"

namespace onepass::sim {
namespace {

bool IsReady(const Path& path) {
  return path.state == Path::State::kReady || path.state == Path::State::kYielded;
}

// Paths at the same operation become one. Lanes that arrive where others wait wake them: they all
// look again at whether they are complete.
void MergePaths(Warp& warp) {
  auto& paths = warp.others;
  for (size_t i = 0; i < paths.size(); ++i) {
    for (size_t j = i + 1; j < paths.size();) {
      if (paths[i].at != paths[j].at) {
        ++j;
        continue;
      }
      paths[i].lanes |= paths[j].lanes;
      const bool stays =
          paths[i].state == paths[j].state &&
          (paths[i].state == Path::State::kYielded || paths[i].state == Path::State::kPolling);
      if (!stays) paths[i].state = Path::State::kReady;
      paths[j] = paths.back();
      paths.pop_back();
    }
  }
}

// Other seeds than 0 now and then let a path go first that is not the lowest.
bool LeavesOrder(const Warp& warp) {
  return warp.block->launch->seed != 0 && warp.block->random.Below(8) == 0;
}

// The lowest ready path, or -1.
int LowestReady(const Warp& warp) {
  int best = -1;
  for (int i = 0; i < static_cast<int>(warp.others.size()); ++i) {
    if (warp.others[i].state != Path::State::kReady) continue;
    if (best < 0 || warp.others[i].at < warp.others[best].at) best = i;
  }
  return best;
}

// All ready paths have yielded: a round of them begins again, with the last to yield at its end.
int WakeYielded(Warp& warp, const Op* last) {
  for (Path& path : warp.others) {
    if (IsReady(path) && path.at != last) path.state = Path::State::kReady;
  }
  const int next = LowestReady(warp);
  if (next >= 0) return next;
  for (size_t i = 0; i < warp.others.size(); ++i) {
    if (IsReady(warp.others[i])) return static_cast<int>(i);
  }
  return -1;
}

void SetFrontier(Warp& warp) {
  const int lowest = LowestReady(warp);
  warp.frontier = lowest < 0 ? nullptr : warp.others[lowest].at;
}

// The running path becomes the one that polls, and the warp's turn ends.
const Op* StopPolling(Warp& warp, size_t which) {
  const Path path = warp.others[which];
  warp.others.erase(warp.others.begin() + which);
  warp.lanes = warp.exec = path.lanes;
  warp.stop = Stop::kPoll;
  warp.resume = path.at;
  return nullptr;
}

int RandomReady(const Warp& warp) {
  llvm::SmallVector<int, 32> ready;
  for (int i = 0; i < static_cast<int>(warp.others.size()); ++i) {
    if (warp.others[i].state == Path::State::kReady) ready.push_back(i);
  }
  return ready.empty() ? -1 : ready[warp.block->random.Below(ready.size())];
}

// All paths wait. Legal only where they all wait at the same barrier of the block, not aligned.
const Op* AllWait(Warp& warp) {
  bool together = true;
  for (const Path& path : warp.others) {
    together &=
        path.state == Path::State::kAtBarrier && SameUnalignedBarrier(*path.at, *warp.others[0].at);
  }
  const Op* at = warp.others[0].at;
  warp.resume = at;
  if (!together) {
    const bool barrier = warp.others[0].state == Path::State::kAtBarrier;
    const char* const why = barrier ? "divergent barrier: other lanes of the warp wait elsewhere"
                                    : "deadlock: lanes of the mask wait elsewhere in the warp";
    return Fault(warp, *at, warp.others[0].lanes, absl::StrCat(why, " (", DescribePaths(warp), ")"),
                 barrier ? Finding::Kind::kBarrierDivergence : Finding::Kind::kDeadlock);
  }
  warp.stop = Stop::kBarrier;
  return nullptr;
}

}  // namespace

const Op* Reschedule(Warp& warp, const Op* at, Path::State state) {
  if (warp.lanes != 0) warp.others.push_back({at, warp.lanes, state});
  MergePaths(warp);
  int next = LeavesOrder(warp) ? RandomReady(warp) : LowestReady(warp);
  if (next < 0) next = WakeYielded(warp, at);
  if (next < 0) {
    for (size_t i = 0; i < warp.others.size(); ++i) {
      if (warp.others[i].state == Path::State::kPolling) return StopPolling(warp, i);
    }
    warp.lanes = 0;
    return AllWait(warp);
  }
  const Path path = warp.others[next];
  warp.others[next] = warp.others.back();
  warp.others.pop_back();
  warp.lanes = warp.exec = path.lanes;
  SetFrontier(warp);
  return path.at;
}

const Op* Poll(Warp& warp, const Op* at) {
  ++warp.unissued;
  return Reschedule(warp, at, Path::State::kPolling);
}

void WakePolling(Warp& warp) {
  if (warp.others.empty()) return;
  for (Path& path : warp.others) {
    if (path.state == Path::State::kPolling) path.state = Path::State::kReady;
  }
  SetFrontier(warp);
}

const Op* Diverge(Warp& warp, const Op* target, uint32_t taken, const Op* fallthrough) {
  warp.others.push_back({fallthrough, warp.lanes & ~taken, Path::State::kReady});
  warp.lanes = taken;
  return Reschedule(warp, target);
}

const Op* ExitLanes(Warp& warp, const Op& op, const Op* next) {
  if (Checker* checker = warp.block->launch->checker; checker != nullptr) {
    checker->ExitLanes(warp, op);
  }
  warp.live &= ~warp.exec;
  warp.lanes &= ~warp.exec;
  // Lanes that wait for those that left look again.
  for (Path& path : warp.others) path.state = Path::State::kReady;
  if (warp.live == 0) {
    warp.stop = Stop::kExit;
    warp.resume = nullptr;
    return nullptr;
  }
  if (warp.lanes != 0 && warp.others.empty()) {
    warp.exec = warp.lanes;
    return next;
  }
  return Reschedule(warp, next);
}

}  // namespace onepass::sim
