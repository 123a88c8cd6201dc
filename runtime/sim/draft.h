// A kernel between translation and assembly: operations on virtual registers, with calls inlined.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/sim/op.h"
#include "runtime/sim/program.h"
#include "runtime/sim/type.h"

namespace onepass::sim {

struct DraftOp {
  static constexpr int kMostRefs = 16;  // beyond kMaxRefs they go to Kernel::long_refs
  enum class Flow : uint8_t {
    kNext,
    kJump,    // to `label`
    kBranch,  // to `label` where the predicate r[0] says so, else on
    kExit,    // leaves the kernel; on for the lanes that its guard holds back
    kTrap,    // ends everything
  };
  ExecFn fn = nullptr;
  int32_t offset = 0;
  uint32_t flags = 0;
  // Virtual registers, or ~index of a constant. Unused ones are kNone.
  int32_t r[kMostRefs];
  uint16_t writes = 0;  // bit i: r[i] is a destination
  uint8_t refs = 0;     // how many of r are used; some between may be kNone
  int32_t guard = -1;   // virtual register
  bool guard_negated = false;
  Flow flow = Flow::kNext;
  int32_t label = -1;
  int32_t origin = -1;
  int8_t mask = -1;  // as OpUse
  int8_t address = -1;
  OpUse::Memory memory = OpUse::Memory::kNone;
  bool shuffle = false;
  bool select = false;
  Logic logic = {};
  int32_t saved = -1;       // the register that a routine's call saves or restores here
  int32_t saved_call = -1;  // of which call: index into Draft::saves
  bool restores = false;

  static constexpr int32_t kNone = INT32_MAX;
};

// A call from inside a routine saves the registers from `first` to `end`, those of them that are
// live behind it.
struct SavedCall {
  int32_t first = 0;
  int32_t end = 0;
  int32_t behind = 0;             // the first operation behind the last restore
  std::vector<size_t> size_rows;  // constants that hold the bytes saved
};

struct Draft {
  std::vector<DraftOp> ops;
  std::vector<int32_t> label_at;    // by label: the operation before which it stands
  std::vector<RowClass> registers;  // by virtual register
  std::vector<Constant> constants;
  std::vector<Origin> origins;
  std::vector<SharedVariable> shared;
  std::vector<SavedCall> saves;
  int64_t static_shared_bytes = 0;
  int64_t local_bytes = 0;
};

}  // namespace onepass::sim
