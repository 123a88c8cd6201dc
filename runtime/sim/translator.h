// Translates one .entry, with the functions it calls inlined, into a draft.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "runtime/sim/draft.h"
#include "runtime/sim/exec.h"
#include "runtime/sim/form.h"
#include "runtime/sim/symbols.h"
#include "runtime/sim/syntax.h"

namespace onepass::sim {

// The module's functions and variables, by name.
struct ModuleNames {
  absl::flat_hash_map<absl::string_view, const Function*> functions;
  absl::flat_hash_map<absl::string_view, int> variables;  // index into Program::variables
  absl::flat_hash_map<absl::string_view, const Variable*> shared;
  absl::flat_hash_map<int, std::string_view> files;
};

// Errors are sticky: the first one is kept, later calls do nothing of use, Run returns it.
class Translator {
 public:
  // `offsets` are those of the entry's parameters.
  Translator(const ModuleNames& names, const Function& entry, const std::vector<int64_t>& offsets);
  absl::StatusOr<Draft> Run();

 private:
  struct Address {
    int32_t ref = DraftOp::kNone;
    int64_t offset = 0;
    bool address32 = false;
    bool local = false;      // a .param or .local variable of a function
    bool parameter = false;  // of the kernel, by name: `offset` is its place
  };

  // translator.cc: scopes, declarations, functions.
  void OpenModule();
  void Body(const Function& function);
  void DeclareLabels(const std::vector<Statement>& body, size_t from);
  void DeclareRegisters(const Statement& statement);
  void DeclareVariable(const Variable& variable);
  int64_t SharedOffset(const Variable& variable);
  void NameDynamicShared(const Variable& variable);
  int32_t NewRegister(RowClass row);
  int NewLabel();
  void Fail(absl::StatusCode code, std::string_view what);
  void Wrong(std::string_view what) { Fail(absl::StatusCode::kInvalidArgument, what); }
  void Unknown();
  int32_t OriginNow();
  std::string SourceOf(const Statement& statement) const;

  // translate_operand.cc: names and literals.
  int32_t ConstantRow(Constant constant);
  int32_t LiteralRow(uint64_t bits, RowClass row);
  int32_t Source(const Operand& operand, Type type);
  int32_t Destination(const Operand& operand, Type type);
  int32_t SymbolRow(const Symbol& symbol, int64_t addend, RowClass row);
  bool FindRegister(std::string_view name, Symbol& symbol);
  RowClass RowOfOperand(const Operand& operand, Type type);
  std::vector<Operand> Elements(const Operand& operand);
  Address AddressOf(const Operand& operand);

  // translate_instruction.cc: one method for each kind of operand list.
  void Instruction(const Statement& statement);
  bool Flow(const Statement& statement, Form& form);
  void Branch(const Statement& statement);
  void BranchIndexed(const Statement& statement);
  void Return();
  void Generic(const Statement& statement, Form& form);
  void Move(const Statement& statement, Form& form);
  void ConvertAddress(const Statement& statement, Form& form);
  void Compare(const Statement& statement, Form& form);
  void Barrier(const Statement& statement, Form& form);
  void Shuffle(const Statement& statement, Form& form);
  void Collective(const Statement& statement, Form& form);
  std::optional<Pick> PickGeneric(const Statement& statement, Form& form);
  void Emit(const Pick& pick, llvm::ArrayRef<int32_t> refs, int writes);
  void EmitMove(int32_t to, int32_t from, RowClass row);

  // translate_memory.cc
  void Access(const Statement& statement, Form& form, bool store);
  void LoadParameter(const Operand& to, Form& form, int64_t offset);
  void Atomic(const Statement& statement, Form& form, bool result);
  void AddressOnly(const Statement& statement, Form& form);
  // translate_call.cc
  void Call(const Statement& statement);
  void CallExtern(const Function& callee);
  void BindParameters(const Function& callee, const std::vector<Operand>& results,
                      const std::vector<Operand>& arguments);

  const ModuleNames& names_;
  const Function& entry_;
  const std::vector<int64_t>& offsets_;
  Draft draft_;
  Scopes scopes_;
  absl::Status error_;
  const std::vector<Statement>* body_ = nullptr;  // of the function being translated
  const Statement* now_ = nullptr;
  const Statement* origin_of_ = nullptr;
  std::vector<const Function*> calls_;  // the functions being inlined
  std::vector<int> return_labels_;
  absl::flat_hash_map<const Variable*, int64_t> shared_;
  absl::flat_hash_map<std::pair<uint64_t, int>, int32_t> literals_;
};

}  // namespace onepass::sim
