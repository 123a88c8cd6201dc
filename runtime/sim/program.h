// A translated module: what the executor runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/sim/op.h"
#include "runtime/sim/syntax.h"
#include "runtime/sim/type.h"

namespace onepass::sim {

// Generic addresses. Global memory is what GlobalMemory hands out; the other spaces are windows.
inline constexpr uint64_t kSharedWindow = uint64_t{1} << 40;
inline constexpr uint64_t kLocalWindow = uint64_t{2} << 40;
inline constexpr uint64_t kParamWindow = uint64_t{3} << 40;
inline constexpr uint64_t kFunctionWindow = uint64_t{4} << 40;
inline constexpr uint64_t kWindowBytes = uint64_t{1} << 40;

// A row of 32 equal lanes in a launch's constants.
struct Constant {
  enum class Kind : uint8_t {
    kLiteral,        // `bits`
    kVariable,       // address of Program::variables[index] plus `bits`
    kParameter,      // the value of `type` at byte `bits` of the parameters
    kShared,         // `bits`, behind the gaps that a launch puts before Kernel::shared[index]
    kDynamicShared,  // where dynamic shared memory begins, plus `bits`
  };
  Kind kind = Kind::kLiteral;
  RowClass row = RowClass::k32;
  Type type = Type::kB32;
  int index = 0;
  uint64_t bits = 0;
  RowRef offset = 0;  // of its row, in bytes

  bool Same(const Constant& other) const {
    return kind == other.kind && row == other.row && type == other.type && index == other.index &&
           bits == other.bits;
  }
};

// Where an operation came from.
struct Origin {
  int line = 0;
  std::string text;
  std::string source;  // "norm.cu:31", where .loc says it
};

// A variable in shared memory. A launch that is checked keeps variables apart.
struct SharedVariable {
  std::string name;
  int64_t offset = 0;
  int64_t bytes = 0;
  int element_bytes = 1;
  bool dynamic = false;  // takes what the launch adds
};

// An operation whose result one source may decide, whatever the others hold.
struct Logic {
  enum class Kind : uint8_t { kNone, kAnd, kOr, kTable };
  Kind kind = Kind::kNone;
  uint8_t bits = 1;      // of a source; 1: predicates
  uint8_t sources = 0;   // bit i: r[i] may decide; kTable: r[1], r[2] and r[3] by the table r[4]
  bool negated = false;  // the sources are predicates, negated
};

// What an operation does with its rows, for those who follow values.
struct OpUse {
  enum class Memory : uint8_t { kNone, kLoad, kStore, kAtomic };
  uint16_t reads = 0;  // bit i: r[i] is a register that is read
  uint16_t writes = 0;
  int8_t mask = -1;     // which r[] is the mask of a .sync operation
  int8_t address = -1;  // which r[] is the address of a memory operation
  Memory memory = Memory::kNone;
  bool long_refs = false;  // the rows are Kernel::long_refs[Op::offset + i]
  bool branch = false;
  bool jump = false;  // to Op::offset, whether always or not
  bool shuffle = false;
  bool select = false;  // r[0] = r[3] ? r[1] : r[2]
  Logic logic = {};
};

struct Kernel {
  std::string name;
  std::vector<Op> ops;             // starts at ops[0]
  std::vector<int32_t> origin_of;  // by operation; -1: none
  std::vector<OpUse> uses;         // by operation
  std::vector<Origin> origins;
  std::vector<RowRef> long_refs;  // of operations with more refs than an Op holds: Op::offset
  std::vector<Constant> constants;
  std::vector<SharedVariable> shared;
  int64_t constant_bytes = 0;
  int64_t register_bytes = 0;     // of a warp
  int64_t mask_begin = 0;         // where the predicates' masks are among the registers
  std::vector<RowRef> undefined;  // registers that some path reads before it writes them
  int64_t static_shared_bytes = 0;
  int64_t local_bytes = 0;  // of a thread
  int64_t parameter_bytes = 0;
};

// A .global or .const variable.
struct GlobalVariable {
  std::string name;
  int64_t bytes = 0;
  int64_t alignment = 1;
  int element_bytes = 1;
  bool constant = false;
  std::vector<uint8_t> image;  // initial bytes; zeros follow
  struct Relocation {
    int64_t offset;
    int variable;
    int64_t addend;
    int shift;  // right shift of the address
    int bytes;  // stored
  };
  std::vector<Relocation> relocations;
};

struct Program {
  std::vector<GlobalVariable> variables;
  std::vector<Kernel> kernels;  // in the order of Module::entries
};

}  // namespace onepass::sim
