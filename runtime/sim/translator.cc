#include "runtime/sim/translator.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "runtime/sim/saved_registers.h"
#include "runtime/sim/used_registers.h"

namespace onepass::sim {
namespace {

// The text with one space for each run of blanks and ends of lines, cut where it is very long.
std::string OneLine(std::string_view text) {
  constexpr size_t kLongest = 400;
  std::string line;
  line.reserve(std::min(text.size(), kLongest));
  for (const char c : text) {
    if (line.size() >= kLongest) return line + "...";
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank) line += c;
    if (blank && !line.ends_with(' ')) line += ' ';
  }
  return line;
}

// Of one kernel, after inlining.
constexpr size_t kMaxOps = 1 << 19;
constexpr size_t kMaxRegisters = 1 << 22;
constexpr uint64_t kMaxLiveness = uint64_t{1} << 31;  // registers by basic blocks

int64_t AlignUp(int64_t value, int64_t alignment) {
  const int64_t step = std::max<int64_t>(alignment, 1);
  return (value + step - 1) / step * step;
}

}  // namespace

Translator::Translator(const ModuleNames& names, const Function& entry,
                       const std::vector<int64_t>& offsets)
    : names_(names), entry_(entry), offsets_(offsets) {}

absl::StatusOr<Draft> Translator::Run() {
  OpenModule();
  scopes_.Open(/*function=*/true);
  for (size_t i = 0; i < entry_.parameters.size(); ++i) {
    scopes_.Add(entry_.parameters[i].name, {Symbol::Kind::kParameter, offsets_[i]});
  }
  calls_.push_back(&entry_);
  return_labels_.push_back(-1);
  Body(entry_);
  now_ = nullptr;
  Return();
  FinishRoutines();
  now_ = nullptr;
  Return();  // the draft ends with an exit
  DropUnusedRegisters(draft_);
  CheckLiveness();
  if (!error_.ok()) return error_;
  KeepLiveRegisters(draft_);
  DropUnusedRegisters(draft_);
  return std::move(draft_);
}

void Translator::OpenModule() {
  scopes_.Open(/*function=*/false);
  for (const auto& [name, index] : names_.variables) {
    scopes_.Add({name.data(), name.size()}, {Symbol::Kind::kGlobal, index});
  }
}

void Translator::Fail(absl::StatusCode code, std::string_view what) {
  if (!error_.ok()) return;
  std::string message = absl::StrFormat("%s: %s", entry_.name, what);
  if (now_ != nullptr) {
    absl::StrAppend(&message, " at PTX line ", now_->line, ": ", OneLine(now_->text));
  }
  error_ = absl::Status(code, message);
}

void Translator::Unknown() {
  Fail(absl::StatusCode::kUnimplemented, absl::StrFormat("unknown PTX form '%s'", now_->name));
}

void Translator::CheckSize() {
  if (draft_.ops.size() > kMaxOps) Wrong("too many instructions after inlining");
  if (draft_.registers.size() > kMaxRegisters) Wrong("too many registers after inlining");
}

// What is live is found for every register and basic block.
void Translator::CheckLiveness() {
  uint64_t blocks = 1;
  for (const DraftOp& op : draft_.ops) blocks += op.flow == DraftOp::Flow::kNext ? 0 : 2;
  if (blocks * draft_.registers.size() > kMaxLiveness) {
    Wrong(absl::StrFormat("too large: %d registers and %d jumps", draft_.registers.size(),
                          blocks / 2));
  }
}

int32_t Translator::OriginNow() {
  if (now_ == nullptr) return -1;
  if (origin_of_ != now_) {
    draft_.origins.push_back({now_->line, OneLine(now_->text), SourceOf(*now_)});
    origin_of_ = now_;
  }
  return static_cast<int32_t>(draft_.origins.size()) - 1;
}

// "norm.cu:31" of the last .loc before the statement.
std::string Translator::SourceOf(const Statement& statement) const {
  const auto found = names_.files.find(statement.file);
  if (found == names_.files.end()) return "";
  const std::string_view name = found->second.substr(found->second.rfind('/') + 1);
  return absl::StrFormat("%s:%d", name, statement.source_line);
}

int32_t Translator::NewRegister(RowClass row) {
  draft_.registers.push_back(row);
  return static_cast<int32_t>(draft_.registers.size()) - 1;
}

int Translator::NewLabel() {
  draft_.label_at.push_back(-1);
  return static_cast<int>(draft_.label_at.size()) - 1;
}

// Labels of one scope, from its first statement to its end; a jump may come before its label.
void Translator::DeclareLabels(const std::vector<Statement>& body, size_t from) {
  int depth = 0;
  for (size_t i = from; i < body.size() && depth >= 0; ++i) {
    if (body[i].kind == Statement::Kind::kOpen) ++depth;
    if (body[i].kind == Statement::Kind::kClose) --depth;
    const bool label = body[i].kind == Statement::Kind::kLabel;
    if (depth != 0 || (!label && body[i].kind != Statement::Kind::kPrototype)) continue;
    now_ = &body[i];
    const Symbol symbol = label ? Symbol{Symbol::Kind::kLabel, NewLabel()}
                                : Symbol{Symbol::Kind::kTargets, static_cast<int64_t>(i)};
    if (!scopes_.Add(body[i].name, symbol)) {
      Wrong(absl::StrFormat("label '%s' is declared twice", body[i].name));
    }
  }
}

void Translator::Body(const Function& function) {
  const std::vector<Statement>* caller = std::exchange(body_, &function.body);
  DeclareLabels(function.body, 0);
  for (size_t i = 0; i < function.body.size() && error_.ok(); ++i) {
    const Statement& statement = function.body[i];
    now_ = &statement;
    switch (statement.kind) {
      case Statement::Kind::kOpen:
        scopes_.Open(/*function=*/false);
        DeclareLabels(function.body, i + 1);
        break;
      case Statement::Kind::kClose:
        scopes_.Close();
        break;
      case Statement::Kind::kRegisters:
        DeclareRegisters(statement);
        break;
      case Statement::Kind::kVariable:
        for (const Variable& variable : statement.variables) DeclareVariable(variable);
        break;
      case Statement::Kind::kLabel: {
        Symbol label;
        scopes_.Find(statement.name, label);
        draft_.label_at[label.value] = static_cast<int32_t>(draft_.ops.size());
        break;
      }
      case Statement::Kind::kPrototype:
        break;
      case Statement::Kind::kInstruction:
        Instruction(statement);
        CheckSize();
        break;
    }
  }
  body_ = caller;
}

void Translator::DeclareRegisters(const Statement& statement) {
  for (const Registers& registers : statement.registers) {
    if (BitsOf(registers.type) > 64)
      return Fail(absl::StatusCode::kUnimplemented, "b128 registers");
    const RowClass row = RowOf(registers.type);
    const int count = std::max(registers.count, 1);
    const int first = static_cast<int>(draft_.registers.size());
    if (first + size_t{1} * count * registers.vector > kMaxRegisters) {
      return Wrong("too many registers");
    }
    draft_.registers.resize(first + size_t{1} * count * registers.vector, row);
    Symbol symbol{Symbol::Kind::kRegister, first, registers.vector, count};
    if (registers.count >= 0) symbol.kind = Symbol::Kind::kRegisterFamily;
    if (!scopes_.Add(registers.name, symbol)) {
      return Wrong(absl::StrFormat("register '%s' is declared twice", registers.name));
    }
  }
}

int64_t Translator::SharedOffset(const Variable& variable) {
  const auto [entry, added] = shared_.insert({&variable, 0});
  if (added) {
    entry->second = AlignUp(draft_.static_shared_bytes, variable.align());
    draft_.static_shared_bytes = entry->second + variable.bytes();
    draft_.shared.push_back({std::string(variable.name), entry->second, variable.bytes(),
                             static_cast<int>(variable.element_bytes())});
  }
  return entry->second;
}

void Translator::NameDynamicShared(const Variable& variable) {
  draft_.shared.push_back({.name = std::string(variable.name),
                           .element_bytes = static_cast<int>(variable.element_bytes()),
                           .dynamic = true});
}

void Translator::DeclareVariable(const Variable& variable) {
  Symbol symbol;
  switch (variable.space) {
    case Space::kShared:
      symbol.kind = variable.unsized ? Symbol::Kind::kDynamicShared : Symbol::Kind::kShared;
      if (!variable.unsized) symbol.value = SharedOffset(variable);
      if (variable.unsized) NameDynamicShared(variable);
      break;
    case Space::kLocal:
    case Space::kParam: {
      int64_t& bytes = routine_ == nullptr ? draft_.local_bytes : routine_->frame_bytes;
      symbol.kind = Symbol::Kind::kLocal;
      symbol.value = AlignUp(bytes, std::max<int64_t>(variable.align(), 8));
      bytes = symbol.value + variable.bytes();
      break;
    }
    case Space::kRegister:
      symbol.value = NewRegister(RowOf(variable.type));
      break;
    default:
      return Fail(absl::StatusCode::kUnimplemented, "variables of this space inside a function");
  }
  const int64_t frame = routine_ == nullptr ? 0 : routine_->frame_bytes;
  if (std::max(draft_.local_bytes, frame) > (1 << 20) || draft_.static_shared_bytes > (1 << 24)) {
    return Wrong(absl::StrFormat("variable '%s' is too large", variable.name));
  }
  if (!scopes_.Add(variable.name, symbol)) {
    Wrong(absl::StrFormat("variable '%s' is declared twice", variable.name));
  }
}

}  // namespace onepass::sim
