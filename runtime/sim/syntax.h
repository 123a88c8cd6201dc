// The syntax tree of a PTX module: what the parser found, with nothing resolved but literals.
//
// All string_views point into the source text that was parsed.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/sim/type.h"

namespace onepass::sim {

struct Literal {
  enum class Kind { kInteger, kF32, kF64 };  // bits of the value are int64, float, double
  Kind kind = Kind::kInteger;
  uint64_t bits = 0;
};

// The lane bits of a literal used where `type` is expected: floats are converted, integers cut.
uint64_t BitsAs(const Literal& literal, Type type);

struct Operand {
  enum class Kind {
    kName,     // register, variable, label or function, perhaps with an offset: "sym+4"
    kLiteral,  // a number
    kAddress,  // "[name+offset]" or "[offset]" (name empty)
    kVector,   // "{a, b}"
    kList,     // "(a, b)" of a call
    kSink,     // "_"
  };
  Kind kind = Kind::kName;
  std::string_view name;
  std::string_view second;  // of "d|p"
  bool negated = false;     // "!p"
  Literal literal;
  int64_t offset = 0;
  int element = 0;  // of a vector register
  std::vector<Operand> elements;
};

// kShared is the block's own; kSharedCluster that of any block of its cluster.
enum class Space : uint8_t {
  kGeneric,
  kGlobal,
  kShared,
  kLocal,
  kParam,
  kConst,
  kRegister,
  kSharedCluster,
};

// One piece of an initialiser: bytes of a number, or the address of a variable.
struct Initialiser {
  Literal literal;
  std::string_view symbol;  // empty: the literal
  int64_t addend = 0;
  uint8_t byte_mask_shift = 0;  // of "0xFF00(sym)": which byte of the address is meant, times 8
  bool one_byte = false;        // the mask form
};

struct Variable {
  std::string_view name;
  Space space = Space::kGlobal;
  Type type = Type::kB8;
  int vector = 1;
  int64_t elements = 1;  // product of the array's sizes
  bool unsized = false;  // "name[]"
  bool external = false;
  int64_t alignment = 0;  // 0: natural
  std::vector<Initialiser> initialisers;
  int line = 0;

  int64_t element_bytes() const { return vector * ((BitsOf(type) + 7) / 8); }
  int64_t bytes() const { return unsized ? 0 : elements * element_bytes(); }
  int64_t align() const { return alignment > 0 ? alignment : element_bytes(); }
};

struct Registers {
  std::string_view name;
  Type type = Type::kB32;
  int vector = 1;
  int count = -1;  // of "%r<count>"; -1: one register of exactly this name
};

struct Statement {
  enum class Kind { kInstruction, kLabel, kRegisters, kVariable, kOpen, kClose, kPrototype };
  Kind kind = Kind::kInstruction;
  int line = 0;
  std::string_view text;  // an instruction as written, without the semicolon
  int file = 0;           // of the source that .loc names, as Syntax::files; 0: none
  int source_line = 0;
  std::string_view name;  // opcode, the label, or the name of a prototype or table of targets
  std::string_view guard;
  bool guard_negated = false;
  std::vector<Operand> operands;  // of an instruction; of .branchtargets the labels
  std::vector<Registers> registers;
  std::vector<Variable> variables;          // of a prototype its parameters
  std::vector<Variable> prototype_results;  // of a prototype
};

struct Function {
  std::string_view name;
  bool entry = false;
  bool has_body = false;
  int line = 0;
  std::vector<Variable> results;
  std::vector<Variable> parameters;
  uint32_t max_threads[3] = {0, 0, 0};
  uint32_t required_threads[3] = {0, 0, 0};
  uint32_t required_cluster[3] = {0, 0, 0};
  std::vector<Statement> body;
};

struct Syntax {
  std::string_view target;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<std::pair<int, std::string_view>> files;  // of .file, by number
};

}  // namespace onepass::sim
