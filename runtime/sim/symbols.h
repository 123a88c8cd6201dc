// What names mean inside a kernel that is being translated.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/sim/syntax.h"

namespace onepass::sim {

struct Symbol {
  enum class Kind {
    kRegister,        // value: virtual register; vector: how many follow each other
    kRegisterFamily,  // "%r<count>": value is the register of "%r0"
    kShared,          // value: offset
    kDynamicShared,
    kLocal,      // value: offset
    kGlobal,     // value: index into Program::variables
    kParameter,  // of the kernel; value: offset
    kLabel,      // value: label
    kTargets,    // .branchtargets; value: the statement's place in its body
  };
  Kind kind = Kind::kRegister;
  int64_t value = 0;
  int vector = 1;
  int count = 0;
};

// Scopes inside scopes; the innermost meaning of a name counts.
class Scopes {
 public:
  void Open(bool function) { scopes_.push_back({function, {}}); }
  void Close() { scopes_.pop_back(); }
  // False: the innermost scope has the name already.
  bool Add(std::string_view name, Symbol symbol) {
    return scopes_.back().names.try_emplace({name.data(), name.size()}, symbol).second;
  }
  // Looks outwards to the function's own scope, then in the module's (the outermost). A register of
  // a family is found by its prefix; then `symbol.value` is its own register; so is "v.y" of a
  // vector register. False where unknown.
  bool Find(std::string_view name, Symbol& symbol) const;

 private:
  struct Scope {
    bool function;  // names of the callers behind it are not seen
    absl::flat_hash_map<absl::string_view, Symbol> names;
  };
  bool FindWhole(std::string_view name, Symbol& symbol) const;
  static bool FindIn(const Scope& scope, std::string_view name, std::string_view prefix, int index,
                     Symbol& symbol);
  std::vector<Scope> scopes_;
};

}  // namespace onepass::sim
