// Functions that can call themselves. Their code stands once in the kernel, behind everything else.
//
// Each thread has a stack in its local memory and a stack pointer. A routine's .param and .local
// variables lie in its frame. Whoever calls from inside a routine first saves the registers that
// exist until then, its own return number among them, on top of its frame; the callee's frame
// follows. A return compares the return number with those of all calls of the routine.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "runtime/sim/translator.h"

namespace onepass::sim {
namespace {

constexpr int64_t kStackBytes = 16 << 10;  // of a thread

int64_t AlignUp(int64_t value) { return (value + 15) / 16 * 16; }

}  // namespace

// A value of `bytes` bytes between a register and local memory.
void Translator::EmitLocal(bool store, int32_t value, int32_t address, int64_t offset, int bytes) {
  static constexpr const char* kLoads[] = {"ld.local.b8", "ld.local.b16", "ld.local.b32",
                                           "ld.local.b64"};
  static constexpr const char* kStores[] = {"st.local.b8", "st.local.b16", "st.local.b32",
                                            "st.local.b64"};
  const int log = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
  Form form(store ? kStores[log] : kLoads[log]);
  sim::Access access;
  access.row = bytes == 8 ? RowClass::k64 : RowClass::k32;
  const auto pick = PickAccess(form, store, access);
  Emit(*pick, {address, value}, store ? 0 : 2);
  if (error_.ok()) draft_.ops.back().offset = static_cast<int32_t>(offset);
}

// A row whose value is known only when the whole kernel has been translated.
int32_t Translator::LateRow(size_t& index) {
  Constant constant;
  constant.row = RowClass::k64;
  index = draft_.constants.size();
  draft_.constants.push_back(constant);
  return ~static_cast<int32_t>(index);
}

Translator::Routine& Translator::RoutineOf(const Function& function) {
  for (const auto& routine : routines_) {
    if (routine->function == &function) return *routine;
  }
  auto routine = std::make_unique<Routine>();
  routine->function = &function;
  routine->entry = NewLabel();
  routine->exit = NewLabel();
  routine->first_register = static_cast<int32_t>(draft_.registers.size());
  routine->return_number = NewRegister(RowClass::k32);
  if (stack_pointer_ < 0) stack_pointer_ = NewRegister(RowClass::k64);
  for (const auto* variables : {&function.results, &function.parameters}) {
    for (const Variable& variable : *variables) {
      Symbol symbol{Symbol::Kind::kRegister, static_cast<int64_t>(draft_.registers.size()),
                    variable.vector};
      if (variable.space == Space::kParam) {
        symbol = {Symbol::Kind::kLocal, AlignUp(routine->frame_bytes)};
        routine->frame_bytes = symbol.value + variable.bytes();
      } else {
        for (int i = 0; i < variable.vector; ++i) NewRegister(RowOf(variable.type));
      }
      routine->formals.push_back(symbol);
    }
  }
  routines_.push_back(std::move(routine));
  return *routines_.back();
}

// Bytes from one place of local memory to another: through registers, the widest first.
Translator::Parts Translator::LoadBytes(int32_t address, int64_t offset, int64_t bytes) {
  Parts values;
  while (bytes > 0) {
    const int part = bytes >= 8 ? 8 : bytes >= 4 ? 4 : bytes >= 2 ? 2 : 1;
    const int32_t value = NewRegister(part == 8 ? RowClass::k64 : RowClass::k32);
    EmitLocal(/*store=*/false, value, address, offset, part);
    values.push_back({value, part});
    offset += part;
    bytes -= part;
  }
  return values;
}

void Translator::StoreBytes(const Parts& values, int32_t address, int64_t offset) {
  for (const auto& [value, part] : values) {
    EmitLocal(/*store=*/true, value, address, offset, part);
    offset += part;
  }
}

// The operations from `from` on save or restore `reg` for the last call.
void Translator::MarkSaved(size_t from, int32_t reg, bool restores) {
  for (size_t i = from; i < draft_.ops.size(); ++i) {
    draft_.ops[i].saved = reg;
    draft_.ops[i].saved_call = static_cast<int32_t>(draft_.saves.size()) - 1;
    draft_.ops[i].restores = restores;
  }
}

// Saves or restores the registers of the current routine. Which of them, and where from `top` on,
// is decided when all code is known: saved_registers.h.
void Translator::MoveRegisters(bool save, int32_t top) {
  const SavedCall call = draft_.saves.back();
  for (int32_t reg = call.first; reg < call.end; ++reg) {
    if (reg == stack_pointer_) continue;
    if (!error_.ok()) return;
    const size_t from = draft_.ops.size();
    const RowClass row = draft_.registers[reg];
    const int bytes = row == RowClass::k64 ? 8 : 4;
    const int32_t held = row == RowClass::kMask ? NewRegister(RowClass::k32) : reg;
    const int32_t zero = LiteralRow(0, RowClass::k32);
    if (save && row == RowClass::kMask) {
      Form select("selp.b32");
      Emit(*PickBits(select), {held, LiteralRow(1, RowClass::k32), zero, reg}, 1);
    }
    EmitLocal(save, held, top, 0, bytes);
    if (!save && row == RowClass::kMask) {
      Form unequal("setp.ne.u32");
      Emit(*PickCompare(unequal, {}), {reg, held, zero}, 1);
    }
    MarkSaved(from, reg, !save);
    CheckSize();
  }
}

int32_t Translator::SavedBytesRow() {
  size_t index = 0;
  const int32_t row = LateRow(index);
  draft_.saves.back().size_rows.push_back(index);
  return row;
}

// Moves the stack pointer behind the caller's frame and saves its registers there.
void Translator::EnterFrame(int32_t first, int32_t end) {
  size_t index = 0;
  if (routine_ == nullptr) {
    EmitMove(stack_pointer_, LateRow(index), RowClass::k64);
    stack_bases_.push_back(index);
    return;
  }
  Form add("add.u64");
  const Pick sum = *PickInteger(add);
  draft_.saves.push_back({first, end, 0, {}});
  const int32_t top = NewRegister(RowClass::k64);
  Emit(sum, {top, stack_pointer_, LateRow(index)}, 1);
  routine_->frame_sizes.push_back(index);
  MoveRegisters(/*save=*/true, top);
  Emit(sum, {stack_pointer_, top, SavedBytesRow()}, 1);
}

void Translator::LeaveFrame() {
  if (routine_ == nullptr) return;
  size_t index = 0;
  Form subtract("sub.u64");
  const Pick difference = *PickInteger(subtract);
  const int32_t top = NewRegister(RowClass::k64);
  Emit(difference, {top, stack_pointer_, SavedBytesRow()}, 1);
  MoveRegisters(/*save=*/false, top);
  draft_.saves.back().behind = static_cast<int32_t>(draft_.ops.size());
  Emit(difference, {stack_pointer_, top, LateRow(index)}, 1);
  routine_->frame_sizes.push_back(index);
}

void Translator::CallRoutine(const Function& callee, const CallSite& site) {
  Routine& routine = RoutineOf(callee);
  const size_t results = callee.results.size();
  // The arguments, as the caller sees them.
  std::vector<Parts> values;
  std::vector<Symbol> held;
  for (size_t i = 0; i < site.arguments.size(); ++i) {
    const Variable& formal = callee.parameters[i];
    values.emplace_back();
    held.emplace_back();
    if (formal.space == Space::kParam) {
      values[i] = LoadBytes(Source(site.arguments[i], Type::kB64), 0, formal.bytes());
    } else {
      held[i] = BindRegister(formal, site.arguments[i]);
    }
  }
  const int32_t first = routine_ == nullptr ? 0 : routine_->first_register;
  const auto end = static_cast<int32_t>(draft_.registers.size());
  EnterFrame(first, end);
  for (size_t i = 0; i < site.arguments.size(); ++i) {
    const Symbol& formal = routine.formals[results + i];
    if (formal.kind == Symbol::Kind::kLocal) {
      StoreBytes(values[i], stack_pointer_, formal.value);
      continue;
    }
    for (int part = 0; part < formal.vector; ++part) {
      const auto to = static_cast<int32_t>(formal.value + part);
      EmitMove(to, static_cast<int32_t>(held[i].value + part), draft_.registers[to]);
    }
  }
  const int behind = NewLabel();
  EmitMove(routine.return_number, LiteralRow(routine.sites.size(), RowClass::k32), RowClass::k32);
  routine.sites.push_back(behind);
  EmitBranch(-1, false, routine.entry);
  PlaceLabel(behind);
  TakeResults(routine, site);
}

// Behind a call: the results are read before the caller's registers come back.
void Translator::TakeResults(const Routine& routine, const CallSite& site) {
  const Function& callee = *routine.function;
  std::vector<Parts> values(site.results.size());
  for (size_t i = 0; i < site.results.size(); ++i) {
    const Symbol& formal = routine.formals[i];
    if (formal.kind == Symbol::Kind::kLocal) {
      values[i] = LoadBytes(stack_pointer_, formal.value, callee.results[i].bytes());
      continue;
    }
    for (int part = 0; part < formal.vector; ++part) {
      const auto from = static_cast<int32_t>(formal.value + part);
      const RowClass row = draft_.registers[from];
      values[i].push_back({NewRegister(row), 0});
      EmitMove(values[i].back().first, from, row);
    }
  }
  LeaveFrame();
  for (size_t i = 0; i < site.results.size() && error_.ok(); ++i) {
    if (routine.formals[i].kind == Symbol::Kind::kLocal) {
      StoreBytes(values[i], Source(site.results[i], Type::kB64), 0);
      continue;
    }
    const std::vector<Operand> to = Elements(site.results[i]);
    if (to.size() != values[i].size()) return Wrong("a result with another number of elements");
    for (size_t part = 0; part < to.size(); ++part) {
      const int32_t from = values[i][part].first;
      EmitMove(Destination(to[part], callee.results[i].type), from, draft_.registers[from]);
    }
  }
}

// The code of all routines that are called, and their returns.
void Translator::FinishRoutines() {
  if (routines_.empty()) return;
  for (size_t i = 0; i < routines_.size() && error_.ok(); ++i) {
    routine_ = routines_[i].get();
    const Function& function = *routine_->function;
    PlaceLabel(routine_->entry);
    scopes_.Open(/*function=*/true);
    for (size_t k = 0; k < routine_->formals.size(); ++k) {
      const size_t results = function.results.size();
      const Variable& variable =
          k < results ? function.results[k] : function.parameters[k - results];
      scopes_.Add(variable.name, routine_->formals[k]);
    }
    calls_.push_back(&function);
    return_labels_.push_back(routine_->exit);
    Body(function);
    Return();
    return_labels_.pop_back();
    calls_.pop_back();
    scopes_.Close();
    for (const size_t index : routine_->frame_sizes) {
      draft_.constants[index].bits = static_cast<uint64_t>(AlignUp(routine_->frame_bytes));
    }
  }
  routine_ = nullptr;
  for (const auto& routine : routines_) {
    PlaceLabel(routine->exit);
    for (size_t i = 0; i < routine->sites.size(); ++i) {
      const int32_t here = EqualsLiteral(routine->return_number, i, RowClass::k32);
      EmitBranch(here, false, routine->sites[i]);
    }
    Emit(NoFunctionPick(), {}, 0);
  }
  const int64_t base = AlignUp(draft_.local_bytes);
  for (const size_t index : stack_bases_) {
    draft_.constants[index].bits = static_cast<uint64_t>(base);
  }
  draft_.local_bytes = base + kStackBytes;
}

}  // namespace onepass::sim
