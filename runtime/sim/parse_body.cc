#include "absl/strings/str_format.h"
#include "runtime/sim/module_parser.h"

namespace onepass::sim {

// After "{"; the outermost "}" ends the function.
void ModuleParser::ParseBody(Function& function) {
  constexpr int kMostScopes = 256;
  file_ = source_line_ = 0;
  for (int depth = 1; depth > 0 && !AtEnd();) {
    Statement statement;
    statement.line = Now().line;
    if (Accept("{")) {
      if (++depth > kMostScopes) return Fail("blocks nested too deep");
      statement.kind = Statement::Kind::kOpen;
    } else if (Accept("}")) {
      if (--depth == 0) return;
      statement.kind = Statement::Kind::kClose;
    } else if (Accept(".reg")) {
      statement = ParseRegisters();
    } else if (IsSpace(Now().text)) {
      statement.kind = Statement::Kind::kVariable;
      statement.variables = ParseVariables(false);
    } else if (Accept(".loc")) {
      ParseLoc();
      continue;
    } else if (Accept(".file")) {
      ParseFile();
      continue;
    } else if (Accept(".pragma") || Accept(";")) {
      if (Behind().text != ";") SkipTo(";");
      continue;
    } else if (Now().kind == Token::Kind::kWord && Ahead().Is(":")) {
      statement.kind = Statement::Kind::kLabel;
      statement.name = Next();
      Next();
      if (Sees(".callprototype") || Sees(".branchtargets") || Sees(".calltargets")) {
        statement.kind = Statement::Kind::kPrototype;
        ParsePrototype(statement);
      }
    } else {
      statement = ParseInstruction();
      statement.file = file_;
      statement.source_line = source_line_;
    }
    function.body.push_back(std::move(statement));
  }
  if (error_.ok()) Fail("function without its closing brace");
}

// The list of a .branchtargets or .calltargets, or "(results) _ (parameters)".
void ModuleParser::ParsePrototype(Statement& statement) {
  if (Next() != ".callprototype") {
    while (!AtEnd() && !Sees(";")) {
      statement.operands.push_back(ParseOperand());
      if (!Accept(",") && !Sees(";")) Fail("expected a list of labels");
    }
    return SkipTo(";");
  }
  if (Accept("(")) statement.prototype_results = ParseParameters();
  if (!Accept("_")) Fail("expected '_' in a .callprototype");
  if (Accept("(")) statement.variables = ParseParameters();
  SkipTo(";");
}

Statement ModuleParser::ParseRegisters() {
  Statement statement;
  statement.kind = Statement::Kind::kRegisters;
  statement.line = Now().line;
  Registers common;
  while (!AtEnd() && Now().text.starts_with('.')) {
    const std::string_view word = Next();
    if (word == ".v2" || word == ".v4") {
      common.vector = word == ".v2" ? 2 : 4;
    } else if (const auto type = TypeNamed(word.substr(1))) {
      common.type = *type;
    } else {
      Fail(absl::StrFormat("unknown register type '%s'", word));
    }
  }
  do {
    Registers registers = common;
    registers.name = Word();
    if (Accept("<")) {
      registers.count = static_cast<int>(Integer());
      if (registers.count < 0 || registers.count > (1 << 22)) Fail("bad number of registers");
      Expect(">");
    }
    statement.registers.push_back(registers);
  } while (Accept(","));
  Expect(";");
  return statement;
}

Statement ModuleParser::ParseInstruction() {
  Statement statement;
  statement.line = Now().line;
  const char* begin = Now().text.data();
  if (Accept("@")) {
    statement.guard_negated = Accept("!");
    statement.guard = Word();
  }
  statement.name = Word();
  while (!AtEnd() && !Sees(";")) {
    statement.operands.push_back(ParseOperand());
    if (!Accept(",") && !Sees(";")) {
      Fail(absl::StrFormat("unexpected '%s' in '%s'", Now().text, statement.name));
    }
  }
  if (AtEnd()) {
    if (error_.ok()) Fail("instruction without its semicolon");
    return statement;
  }
  statement.text = source_.substr(begin - source_.data(), Now().text.data() - begin);
  Expect(";");
  return statement;
}

Operand ModuleParser::ParseOperand() {
  if (Accept("[")) return ParseAddress();
  if (Accept("{")) return ParseElements(Operand::Kind::kVector, "}");
  if (Accept("(")) return ParseElements(Operand::Kind::kList, ")");
  Operand operand;
  if (Now().kind == Token::Kind::kNumber || Sees("-")) {
    operand.kind = Operand::Kind::kLiteral;
    operand.literal = Number();
    return operand;
  }
  return ParseName();
}

Operand ModuleParser::ParseName() {
  Operand operand;
  operand.negated = Accept("!");
  operand.name = Word();
  if (operand.name == "_") operand.kind = Operand::Kind::kSink;
  if (operand.name == "WARP_SZ") {
    operand.kind = Operand::Kind::kLiteral;
    operand.literal = {Literal::Kind::kInteger, 32};
  }
  if (Accept("|")) operand.second = Word();
  if (Accept("+")) operand.offset = Offset();
  return operand;
}

// After "[". Two-part addresses, "[a], mbar" and "[tensor, {x, y}]", keep their parts as elements.
Operand ModuleParser::ParseAddress() {
  Operand operand;
  operand.kind = Operand::Kind::kAddress;
  if (!Deeper()) return operand;
  if (Now().kind == Token::Kind::kNumber) {
    operand.offset = Integer();
  } else {
    operand.name = Word();
    if (Accept("+") || Sees("-")) operand.offset = Offset();
  }
  while (Accept(",")) operand.elements.push_back(ParseOperand());
  --depth_;
  Expect("]");
  return operand;
}

Operand ModuleParser::ParseElements(Operand::Kind kind, std::string_view close) {
  Operand operand;
  operand.kind = kind;
  if (!Deeper()) return operand;
  while (!AtEnd() && !Accept(close)) {
    operand.elements.push_back(ParseOperand());
    if (!Accept(",") && !Sees(close)) Fail(absl::StrFormat("unexpected '%s'", Now().text));
  }
  --depth_;
  return operand;
}

}  // namespace onepass::sim
