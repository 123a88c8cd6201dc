#include "runtime/sim/module.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "absl/strings/str_format.h"
#include "runtime/sim/assemble.h"
#include "runtime/sim/call_graph.h"
#include "runtime/sim/parser.h"
#include "runtime/sim/program.h"
#include "runtime/sim/translator.h"

namespace onepass::sim {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

void Append(std::vector<uint8_t>& image, const void* bytes, size_t size) {
  const auto* begin = static_cast<const uint8_t*>(bytes);
  image.insert(image.end(), begin, begin + size);
}

// The bytes of a variable's initialiser, and what has to be filled in where it is loaded.
absl::Status Initialise(const Variable& source, const ModuleNames& names,
                        GlobalVariable& variable) {
  const size_t unit = static_cast<size_t>((BitsOf(source.type) + 7) / 8);
  if (unit > sizeof(uint64_t) && !source.initialisers.empty()) {
    return absl::UnimplementedError(
        absl::StrFormat("PTX line %d: initial values of b128", source.line));
  }
  for (const Initialiser& initialiser : source.initialisers) {
    uint64_t bits = initialiser.symbol.empty() ? BitsAs(initialiser.literal, source.type) : 0;
    const auto function = names.functions.find(View(initialiser.symbol));
    if (function != names.functions.end() && function->second->has_body) {
      bits = names.AddressOf(*function->second) >> initialiser.byte_mask_shift;
    } else if (!initialiser.symbol.empty()) {
      const auto found = names.variables.find(View(initialiser.symbol));
      if (found == names.variables.end()) {
        return absl::UnimplementedError(
            absl::StrFormat("PTX line %d: the initialiser of '%s' names '%s'", source.line,
                            source.name, initialiser.symbol));
      }
      variable.relocations.push_back({static_cast<int64_t>(variable.image.size()), found->second,
                                      initialiser.addend, initialiser.byte_mask_shift,
                                      static_cast<int>(unit)});
    }
    Append(variable.image, &bits, unit);
  }
  if (static_cast<int64_t>(variable.image.size()) > variable.bytes) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "PTX line %d: '%s' has more initial values than elements", source.line, source.name));
  }
  return absl::OkStatus();
}

absl::Status AddVariables(const Syntax& syntax, ModuleNames& names, Program& program) {
  for (const Variable& source : syntax.variables) {
    if (source.space == Space::kShared) {
      names.shared[View(source.name)] = &source;
      continue;
    }
    if (source.bytes() > (int64_t{1} << 32)) {
      return absl::InvalidArgumentError(absl::StrFormat("variable '%s' is too large", source.name));
    }
    GlobalVariable variable;
    variable.name = source.name;
    variable.bytes = source.bytes();
    variable.alignment = source.align();
    variable.element_bytes = (BitsOf(source.type) + 7) / 8;
    variable.constant = source.space == Space::kConst;
    names.variables[View(source.name)] = static_cast<int>(program.variables.size());
    program.variables.push_back(std::move(variable));
  }
  int next = 0;
  for (const Variable& source : syntax.variables) {
    if (source.space == Space::kShared) continue;
    const absl::Status status = Initialise(source, names, program.variables[next++]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

Entry EntryOf(const Function& function) {
  Entry entry;
  entry.name = function.name;
  for (const Variable& variable : function.parameters) {
    Parameter parameter{std::string(variable.name), entry.parameter_bytes, variable.bytes(),
                        std::max<int64_t>(variable.align(), 1)};
    parameter.offset =
        (parameter.offset + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
    entry.parameter_bytes = parameter.offset + parameter.bytes;
    entry.parameters.push_back(parameter);
  }
  const bool required = function.required_threads[0] != 0;
  const uint32_t* most = required ? function.required_threads : function.max_threads;
  const uint64_t threads = uint64_t{most[0]} * most[1];  // below 2^62
  entry.max_threads = static_cast<uint32_t>(
      std::min<uint64_t>(std::min<uint64_t>(threads, UINT32_MAX) * most[2], UINT32_MAX));
  std::copy_n(function.required_threads, 3, entry.required_threads);
  std::copy_n(function.required_cluster, 3, entry.required_cluster);
  return entry;
}

absl::Status AddEntry(const Function& function, const ModuleNames& names, Entry& entry,
                      Program& program) {
  std::vector<int64_t> offsets;
  for (const Parameter& parameter : entry.parameters) offsets.push_back(parameter.offset);
  auto draft = Translator(names, function, offsets).Run();
  Kernel kernel;
  kernel.name = function.name;
  if (absl::IsUnimplemented(draft.status())) {
    entry.supported = draft.status();
    program.kernels.push_back(std::move(kernel));
    return absl::OkStatus();
  }
  if (!draft.ok()) return draft.status();
  kernel.parameter_bytes = entry.parameter_bytes;
  const int live = Assemble(*std::move(draft), kernel);
  kernel.local_bytes = (kernel.local_bytes + 15) / 16 * 16;
  entry.static_shared_bytes = kernel.static_shared_bytes;
  entry.local_bytes_per_thread = kernel.local_bytes;
  // A few registers for addresses and the stack, in the hardware's unit of 8.
  entry.register_estimate = std::clamp((live + 6 + 7) / 8 * 8, 16, 255);
  program.kernels.push_back(std::move(kernel));
  return absl::OkStatus();
}

}  // namespace

Module::~Module() = default;

absl::StatusOr<std::shared_ptr<const Module>> Module::Parse(std::string_view ptx) {
  static std::atomic<uint64_t> next_id{1};
  const auto syntax = ParsePtx(ptx);
  if (!syntax.ok()) return syntax.status();
  auto program = std::make_unique<Program>();
  ModuleNames names;
  std::shared_ptr<Module> module(new Module());
  for (const Function& function : syntax->functions) {
    // A declaration may precede the definition.
    const Function*& known = names.functions[View(function.name)];
    if (known == nullptr || function.has_body) known = &function;
    if (function.has_body) names.defined.push_back(&function);
  }
  names.files.insert(syntax->files.begin(), syntax->files.end());
  absl::Status status = AddVariables(*syntax, names, *program);
  names.recursive = RecursiveFunctions(*syntax, names);
  for (const Function& function : syntax->functions) {
    if (!status.ok()) return status;
    if (!function.entry || !function.has_body) continue;
    module->entries_.push_back(EntryOf(function));
    status = AddEntry(function, names, module->entries_.back(), *program);
  }
  const auto supported = [](const Entry& entry) { return entry.supported.ok(); };
  if (std::none_of(module->entries_.begin(), module->entries_.end(), supported)) {
    for (const Entry& entry : module->entries_) status.Update(entry.supported);
  }
  if (!status.ok()) return status;
  module->id_ = next_id++;
  module->target_ = syntax->target;
  module->program_ = std::move(program);
  return std::shared_ptr<const Module>(std::move(module));
}

const Entry* Module::FindEntry(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace onepass::sim
