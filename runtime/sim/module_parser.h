// The recursive descent behind ParsePtx: parser.cc reads what stands at the top of a module,
// parse_variables.cc declarations, parse_body.cc statements and operands.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/sim/syntax.h"
#include "runtime/sim/token_cursor.h"

namespace onepass::sim {

class ModuleParser : private TokenCursor {
 public:
  ModuleParser(std::string_view source, std::vector<Token> tokens)
      : TokenCursor(std::move(tokens)), source_(source) {}

  absl::StatusOr<Syntax> Run();

 private:
  void ParseTop();
  void ParseVersion();
  void ParseFunction(bool entry);
  void ParseFunctionDirectives(Function& function);
  void ParseTriple(uint32_t (&values)[3]);
  void ParseBody(Function& function);
  void ParseFile();
  void ParseLoc();
  void ParsePrototype(Statement& statement);
  Statement ParseRegisters();
  Statement ParseInstruction();
  std::vector<Variable> ParseParameters();
  std::vector<Variable> ParseVariables(bool external);
  Variable ParseDeclarator(Variable variable);
  void ParseInitialisers(std::vector<Initialiser>& into);
  Operand ParseOperand();
  Operand ParseName();
  Operand ParseAddress();
  Operand ParseElements(Operand::Kind kind, std::string_view close);
  bool Deeper();
  int64_t Offset();

  std::string_view source_;
  bool versioned_ = false;
  int depth_ = 0;  // of braces inside each other, in operands and initialisers
  int file_ = 0;   // of the last .loc
  int source_line_ = 0;
  Syntax syntax_;
};

// Words like ".shared"; any other is the global space to SpaceNamed.
bool IsSpace(std::string_view word);
Space SpaceNamed(std::string_view word);

}  // namespace onepass::sim
