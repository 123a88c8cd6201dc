#include <algorithm>

#include "absl/strings/str_format.h"
#include "runtime/sim/module_parser.h"

namespace onepass::sim {

bool IsSpace(std::string_view word) {
  return word == ".global" || word == ".shared" || word == ".local" || word == ".const" ||
         word == ".param";
}

Space SpaceNamed(std::string_view word) {
  if (word == ".shared") return Space::kShared;
  if (word == ".local") return Space::kLocal;
  if (word == ".const") return Space::kConst;
  if (word == ".param") return Space::kParam;
  if (word == ".reg") return Space::kRegister;
  return Space::kGlobal;
}

// After "("; reads the closing parenthesis too.
std::vector<Variable> ModuleParser::ParseParameters() {
  constexpr int64_t kMostBytes = 32764;  // the PTX ISA's limit for kernels
  std::vector<Variable> parameters;
  int64_t bytes = 0;
  while (!AtEnd() && !Accept(")")) {
    const std::string_view word = Now().text;
    if (!IsSpace(word) && word != ".reg") {
      Fail(absl::StrFormat("expected a parameter before '%s'", word));
      break;
    }
    std::vector<Variable> parsed = ParseVariables(false);
    for (const Variable& variable : parsed) bytes += variable.bytes();
    if (bytes > kMostBytes) {
      Fail(absl::StrFormat("%d bytes of parameters, at most %d are allowed", bytes, kMostBytes));
    }
    parameters.insert(parameters.end(), parsed.begin(), parsed.end());
    Accept(",");
  }
  return parameters;
}

// A state space with its declarators. Module and function scope end with ";", parameters do not.
std::vector<Variable> ModuleParser::ParseVariables(bool external) {
  Variable common;
  common.external = external;
  common.line = Now().line;
  common.space = SpaceNamed(Next());
  bool typed = false;
  while (!AtEnd() && Now().text.starts_with('.')) {
    const std::string_view word = Next();
    if (word == ".align") {
      const int64_t alignment = Integer();
      if (alignment < 1 || alignment > 4096 || (alignment & (alignment - 1)) != 0) {
        Fail("bad alignment: no power of two up to 4096");
      }
      // ".ptr .align N" states what the pointer points to, not the parameter's own alignment.
      if (!typed || common.space != Space::kParam) common.alignment = alignment;
    } else if (const auto type = TypeNamed(word.substr(1))) {
      common.type = *type;
      typed = true;
    } else if (word == ".v2" || word == ".v4") {
      common.vector = word == ".v2" ? 2 : 4;
    } else if (word != ".ptr" && word != ".global" && word != ".shared" && word != ".const" &&
               word != ".local" && word != ".managed" && !word.starts_with(".attribute")) {
      Fail(absl::StrFormat("unknown attribute '%s' of a variable", word));
    }
    if (word == ".attribute") SkipTo(")");
  }
  std::vector<Variable> variables;
  do {
    variables.push_back(ParseDeclarator(common));
    // A parameter list goes on with the next state space.
  } while (Sees(",") && Ahead().text.substr(0, 1) != "." && Accept(","));
  Accept(";");
  return variables;
}

Variable ModuleParser::ParseDeclarator(Variable variable) {
  variable.name = Word();
  while (Accept("[")) {
    if (Accept("]")) {
      variable.unsized = true;
    } else {
      const int64_t size = Integer();
      constexpr int64_t kMost = int64_t{1} << 32;
      if (size < 0 || size > kMost || (size > 0 && variable.elements > kMost / size)) {
        return Fail("bad array size"), variable;
      }
      variable.elements *= size;
      Expect("]");
    }
  }
  if (Accept("=")) {
    ParseInitialisers(variable.initialisers);
    if (variable.unsized && !variable.external) {
      variable.unsized = false;
      variable.elements = static_cast<int64_t>(variable.initialisers.size());
    }
  }
  return variable;
}

bool ModuleParser::Deeper() {
  if (++depth_ > 16) Fail("braces nested too deep");
  return error_.ok();
}

// What is added to a name.
int64_t ModuleParser::Offset() {
  constexpr int64_t kMost = int64_t{1} << 48;
  const int64_t offset = Integer();
  if (offset < -kMost || offset > kMost) Fail("an offset beyond the address space");
  return std::clamp(offset, -kMost, kMost);
}

void ModuleParser::ParseInitialisers(std::vector<Initialiser>& into) {
  if (Accept("{")) {
    if (!Deeper()) return;
    while (!AtEnd() && !Accept("}")) {
      ParseInitialisers(into);
      Accept(",");
    }
    --depth_;
    return;
  }
  Initialiser value;
  if (Now().kind == Token::Kind::kNumber || Sees("-")) {
    value.literal = Number();
    if (Accept("(")) {  // a byte of an address: 0xFF00(sym)
      value.one_byte = true;
      while (((value.literal.bits >> value.byte_mask_shift) & 0xff) != 0xff) {
        if ((value.byte_mask_shift += 8) >= 64) return Fail("bad mask in an initialiser");
      }
      value.symbol = Word();
      Expect(")");
    }
  } else {
    value.symbol = Word();
    if (value.symbol == "generic" && Accept("(")) {
      value.symbol = Word();
      if (Accept("+")) value.addend = Offset();
      Expect(")");
    }
    if (Accept("+")) value.addend = Offset();
  }
  into.push_back(value);
}

}  // namespace onepass::sim
