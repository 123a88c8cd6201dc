#include "runtime/sim/parser.h"

#include "absl/strings/str_format.h"
#include "runtime/sim/lexer.h"
#include "runtime/sim/module_parser.h"

namespace onepass::sim {

absl::StatusOr<Syntax> ModuleParser::Run() {
  while (!AtEnd()) ParseTop();
  if (!error_.ok()) return error_;
  if (!versioned_) return absl::InvalidArgumentError("PTX without .version");
  if (syntax_.target.empty()) return absl::InvalidArgumentError("PTX without .target");
  return std::move(syntax_);
}

void ModuleParser::ParseTop() {
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

void ModuleParser::ParseVersion() {
  const std::string_view version = Now().text;
  const bool known = version.size() >= 3 && version[0] >= '1' && version[0] <= '9' &&
                     version[1] == '.' &&
                     version.find_first_not_of("0123456789", 2) == std::string_view::npos;
  if (!known) Fail(absl::StrFormat("PTX of version '%s'; known are 1.0 to 9.x", version));
  Next();
  versioned_ = true;
}

void ModuleParser::ParseFile() {
  const int line = Behind().line;
  const int number = static_cast<int>(Integer());
  if (Now().kind == Token::Kind::kString) syntax_.files.push_back({number, Now().text});
  while (!AtEnd() && Now().line == line) Next();
}

void ModuleParser::ParseLoc() {
  const int line = Behind().line;
  file_ = static_cast<int>(Integer());
  source_line_ = static_cast<int>(Integer());
  while (!AtEnd() && Now().line == line) Next();
}

void ModuleParser::ParseTriple(uint32_t (&values)[3]) {
  for (uint32_t& value : values) value = 1;
  for (uint32_t& value : values) {
    const int64_t number = Integer();
    if (number < 1 || number > INT32_MAX) return Fail("bad size in a directive");
    value = static_cast<uint32_t>(number);
    if (!Accept(",")) return;
  }
}

void ModuleParser::ParseFunctionDirectives(Function& function) {
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

void ModuleParser::ParseFunction(bool entry) {
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

absl::StatusOr<Syntax> ParsePtx(std::string_view source) {
  auto tokens = Lex(source);
  if (!tokens.ok()) return tokens.status();
  return ModuleParser(source, *std::move(tokens)).Run();
}

}  // namespace onepass::sim
