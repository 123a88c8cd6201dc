// Translates one .entry, with the functions it calls inlined, into a draft.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
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
  std::vector<const Function*> defined;  // with bodies
  absl::flat_hash_set<const Function*> recursive;

  // What a pointer to a function is.
  uint64_t AddressOf(const Function& function) const {
    const auto found = std::find(defined.begin(), defined.end(), &function);
    return kFunctionWindow + 16 * static_cast<uint64_t>(found - defined.begin());
  }
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
    bool local = false;             // a .param or .local variable of a function
    bool parameter = false;         // of the kernel, by name: `offset` is its place
    Space named = Space::kGeneric;  // of a variable that is named
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
  void CheckSize();
  void CheckLiveness();
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
  int32_t SumRow(int32_t reg, int64_t addend, RowClass row);
  int32_t SymbolRow(const Symbol& symbol, int64_t addend, RowClass row);
  bool FindRegister(std::string_view name, Symbol& symbol);
  RowClass RowOfOperand(const Operand& operand, Type type);
  std::vector<Operand> Elements(const Operand& operand);
  Address AddressOf(const Operand& operand);
  Space SpaceNamed(std::string_view name);

  // translate_instruction.cc: one method for each kind of operand list.
  void Instruction(const Statement& statement);
  bool Flow(const Statement& statement, Form& form);
  void Branch(const Statement& statement);
  void BranchIndexed(const Statement& statement);
  void Return();
  void Generic(const Statement& statement, Form& form);
  void Move(const Statement& statement, Form& form);
  void MoveVector(const Statement& statement, Type type, size_t length);
  void ConvertAddress(const Statement& statement, Form& form);
  void Compare(const Statement& statement, Form& form);
  void Barrier(const Statement& statement, Form& form);
  void Shuffle(const Statement& statement, Form& form);
  void Collective(const Statement& statement, Form& form);
  std::optional<Pick> PickGeneric(const Statement& statement, Form& form);
  void Emit(const Pick& pick, llvm::ArrayRef<int32_t> refs, int writes);
  void EmitMove(int32_t to, int32_t from, RowClass row);
  int32_t ActiveLanes();

  // translate_memory.cc
  void Access(const Statement& statement, Form& form, bool store);
  void LoadParameter(const Operand& to, Form& form, int64_t offset);
  void Atomic(const Statement& statement, Form& form, bool result);
  void AddressOnly(const Statement& statement, Form& form);

  // translate_async.cc: asynchronous operations, mbarriers, matrices.
  void Async(const Statement& statement, Form& form);
  void CopyAsync(const Statement& statement, AsyncPick pick);
  void EmitAsync(const Statement& statement, const AsyncPick& pick);
  int32_t GenericAddress(const Operand& operand, Space space);
  void MoveMatrices(const Statement& statement, Form& form);
  void MultiplyMatrices(const Statement& statement, Form& form);
  // translate_call.cc
  struct CallSite {
    std::vector<Operand> results;
    std::vector<Operand> arguments;
  };
  void Call(const Statement& statement);
  void CallUnguarded(const Statement& statement);
  void CallFunction(const Function& callee, const CallSite& site);
  void CallPointer(int32_t pointer, std::string_view prototype, const CallSite& site);
  std::vector<const Function*> CandidatesOf(std::string_view prototype, const CallSite& site);
  void CallExtern(const Function& callee, const CallSite& site);
  void BindParameters(const Function& callee, const CallSite& site);
  Symbol BindRegister(const Variable& formal, const Operand& actual);
  int32_t LoadArgument(const Operand& argument, Type type);
  void EmitBranch(int32_t predicate, bool negated, int label);  // predicate -1: a jump
  void PlaceLabel(int label);
  int32_t EqualsLiteral(int32_t row, uint64_t value, RowClass width);
  // translate_routine.cc
  struct Routine {
    const Function* function = nullptr;
    int entry = -1;  // labels
    int exit = -1;
    int32_t first_register = 0;
    int32_t return_number = 0;    // register
    std::vector<Symbol> formals;  // results, then parameters
    std::vector<int> sites;       // labels behind its calls, by return number
    int64_t frame_bytes = 0;
    std::vector<size_t> frame_sizes;  // constants that hold frame_bytes
  };
  using Parts = std::vector<std::pair<int32_t, int>>;  // registers and the bytes they hold
  void EmitLocal(bool store, int32_t value, int32_t address, int64_t offset, int bytes);
  int32_t LateRow(size_t& index);
  Routine& RoutineOf(const Function& function);
  Parts LoadBytes(int32_t address, int64_t offset, int64_t bytes);
  void StoreBytes(const Parts& values, int32_t address, int64_t offset);
  void MoveRegisters(bool save, int32_t top);
  void EnterFrame(int32_t first, int32_t end);
  void LeaveFrame();
  int32_t SavedBytesRow();
  void MarkSaved(size_t from, int32_t reg, bool restores);
  void CallRoutine(const Function& callee, const CallSite& site);
  void TakeResults(const Routine& routine, const CallSite& site);
  void FinishRoutines();

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
  std::vector<std::unique_ptr<Routine>> routines_;
  Routine* routine_ = nullptr;       // whose code is being translated; null: the entry's
  int32_t stack_pointer_ = -1;       // register, once there is a routine
  std::vector<size_t> stack_bases_;  // constants that hold where the stack begins
  absl::flat_hash_map<const Variable*, int64_t> shared_;
  absl::flat_hash_map<std::pair<uint64_t, int>, int32_t> literals_;
};

}  // namespace onepass::sim
