#include "runtime/sim/parser.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_format.h"
#include "runtime/sim/lexer.h"
#include "runtime/sim/token_cursor.h"

namespace onepass::sim {
namespace {

class Parser : private TokenCursor {
 public:
  Parser(std::string_view source, std::vector<Token> tokens)
      : TokenCursor(std::move(tokens)), source_(source) {}

  absl::StatusOr<Syntax> Run() {
    while (!AtEnd()) ParseTop();
    if (!error_.ok()) return error_;
    if (!versioned_) return absl::InvalidArgumentError("PTX without .version");
    if (syntax_.target.empty()) return absl::InvalidArgumentError("PTX without .target");
    return std::move(syntax_);
  }

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

void Parser::ParseTop() {
  bool external = false;
  while (Sees(".extern") || Sees(".visible") || Sees(".weak") || Sees(".common")) {
    external |= Next() == ".extern";
  }
  if (Accept(".version")) {
    ParseVersion();
  } else if (Accept(".target")) {
    syntax_.target = Word();
    while (Accept(",")) Next();
  } else if (Accept(".address_size")) {
    if (Integer() != 64) Fail("only .address_size 64 is supported");
  } else if (Accept(".entry")) {
    ParseFunction(/*entry=*/true);
  } else if (Accept(".func")) {
    ParseFunction(/*entry=*/false);
  } else if (IsSpace(Now().text)) {
    for (Variable& variable : ParseVariables(external)) syntax_.variables.push_back(variable);
  } else if (Accept(".file")) {
    ParseFile();
  } else if (Accept(".loc")) {
    SkipLine();
  } else if (Accept(".section")) {
    SkipTo("}");
  } else if (Accept(".pragma") || Accept(".alias") || Accept(".callprototype")) {
    SkipTo(";");
  } else if (!Accept(";")) {
    Fail(absl::StrFormat("unexpected '%s'", Now().text));
  }
}

void Parser::ParseVersion() {
  const std::string_view version = Now().text;
  const bool known = version.size() >= 3 && version[0] >= '1' && version[0] <= '9' &&
                     version[1] == '.' &&
                     version.find_first_not_of("0123456789", 2) == std::string_view::npos;
  if (!known) Fail(absl::StrFormat("PTX of version '%s'; known are 1.0 to 9.x", version));
  Next();
  versioned_ = true;
}

void Parser::ParseFile() {
  const int line = Behind().line;
  const int number = static_cast<int>(Integer());
  if (Now().kind == Token::Kind::kString) syntax_.files.push_back({number, Now().text});
  while (!AtEnd() && Now().line == line) Next();
}

void Parser::ParseLoc() {
  const int line = Behind().line;
  file_ = static_cast<int>(Integer());
  source_line_ = static_cast<int>(Integer());
  while (!AtEnd() && Now().line == line) Next();
}

void Parser::ParseTriple(uint32_t (&values)[3]) {
  for (uint32_t& value : values) value = 1;
  for (uint32_t& value : values) {
    const int64_t number = Integer();
    if (number < 1 || number > INT32_MAX) return Fail("bad size in a directive");
    value = static_cast<uint32_t>(number);
    if (!Accept(",")) return;
  }
}

void Parser::ParseFunctionDirectives(Function& function) {
  while (!AtEnd() && !Sees("{") && !Sees(";")) {
    const std::string_view word = Next();
    if (word == ".maxntid") {
      ParseTriple(function.max_threads);
    } else if (word == ".reqntid") {
      ParseTriple(function.required_threads);
    } else if (word == ".reqnctapercluster") {
      ParseTriple(function.required_cluster);
    } else if (word == ".maxclusterrank") {
      Integer();
    } else if (word == ".minnctapersm" || word == ".maxnctapersm" || word == ".maxnreg") {
      Integer();
    } else if (word == ".pragma") {
      SkipTo(";");
    } else if (word != ".noreturn" && word != ".explicitcluster" && word != ".blocksareclusters") {
      return Fail(absl::StrFormat("unknown directive '%s'", word));
    }
  }
}

void Parser::ParseFunction(bool entry) {
  Function function;
  function.entry = entry;
  function.line = Now().line;
  if (Accept("(")) function.results = ParseParameters();
  function.name = Word();
  if (Accept("(")) function.parameters = ParseParameters();
  ParseFunctionDirectives(function);
  if (Accept("{")) {
    function.has_body = true;
    ParseBody(function);
  } else {
    Expect(";");
  }
  syntax_.functions.push_back(std::move(function));
}

// After "("; reads the closing parenthesis too.
std::vector<Variable> Parser::ParseParameters() {
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
std::vector<Variable> Parser::ParseVariables(bool external) {
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

Variable Parser::ParseDeclarator(Variable variable) {
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

bool Parser::Deeper() {
  if (++depth_ > 16) Fail("braces nested too deep");
  return error_.ok();
}

// What is added to a name.
int64_t Parser::Offset() {
  constexpr int64_t kMost = int64_t{1} << 48;
  const int64_t offset = Integer();
  if (offset < -kMost || offset > kMost) Fail("an offset beyond the address space");
  return std::clamp(offset, -kMost, kMost);
}

void Parser::ParseInitialisers(std::vector<Initialiser>& into) {
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

// After "{"; the outermost "}" ends the function.
void Parser::ParseBody(Function& function) {
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
void Parser::ParsePrototype(Statement& statement) {
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

Statement Parser::ParseRegisters() {
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

Statement Parser::ParseInstruction() {
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

Operand Parser::ParseOperand() {
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

Operand Parser::ParseName() {
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
Operand Parser::ParseAddress() {
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

Operand Parser::ParseElements(Operand::Kind kind, std::string_view close) {
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

}  // namespace

absl::StatusOr<Syntax> ParsePtx(std::string_view source) {
  auto tokens = Lex(source);
  if (!tokens.ok()) return tokens.status();
  return Parser(source, *std::move(tokens)).Run();
}

}  // namespace onepass::sim
