#include "runtime/cubin.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace onepass {
namespace {

// Attributes of .nv.info. One is a format byte, an attribute byte and two bytes that hold either
// the value or, in the last format, the size of the value that follows.
constexpr uint8_t kSizedFormat = 4;
constexpr uint8_t kRegisterCount = 0x2f;  // u32 symbol, u32 registers
constexpr uint8_t kFrameSize = 0x11;      // u32 symbol, u32 bytes of its own stack frame
constexpr uint8_t kMinStackSize = 0x12;   // u32 symbol, u32 bytes with those of what it calls

// Where a file has this section (since sm_90), its .nv.shared sections begin with what the system
// takes of every block.
constexpr absl::string_view kReservedSection = ".nv.shared.reserved.0";
constexpr int64_t kReservedBytes = 1024;

// A 64-bit ELF file that may be damaged: whatever lies outside the bytes reads as nothing.
class ElfFile {
 public:
  explicit ElfFile(llvm::ArrayRef<uint8_t> bytes) : bytes_(bytes) {}

  // False for bytes that are no such file.
  bool ReadSections() {
    Elf64_Ehdr header;
    if (!ReadAt(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr)) {
      return false;
    }
    for (size_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      if (!ReadAt(header.e_shoff + i * sizeof(section), section)) return false;
      sections_.push_back(section);
    }
    names_ = header.e_shstrndx;
    return names_ < sections_.size();
  }

  const Elf64_Shdr* Section(absl::string_view name) const {
    auto found = std::find_if(sections_.begin(), sections_.end(), [&](const Elf64_Shdr& section) {
      return StringAt(names_, section.sh_name) == name;
    });
    return found == sections_.end() ? nullptr : &*found;
  }

  llvm::ArrayRef<uint8_t> BytesOf(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes_.size() ||
        section.sh_size > bytes_.size() - section.sh_offset) {
      return {};
    }
    return bytes_.slice(section.sh_offset, section.sh_size);
  }

  // The names of all symbols, in the order of their numbers.
  std::vector<absl::string_view> Symbols() const {
    std::vector<absl::string_view> symbols;
    const Elf64_Shdr* table = Section(".symtab");
    if (table == nullptr) return symbols;
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= BytesOf(*table).size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!ReadAt(table->sh_offset + at, symbol)) break;
      symbols.push_back(StringAt(table->sh_link, symbol.st_name));
    }
    return symbols;
  }

 private:
  template <typename T>
  bool ReadAt(uint64_t offset, T& value) const {
    if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) return false;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return true;
  }

  // The string at `offset` of a string table; empty where there is none.
  absl::string_view StringAt(size_t table, uint64_t offset) const {
    if (table >= sections_.size()) return "";
    llvm::ArrayRef<uint8_t> strings = BytesOf(sections_[table]);
    if (offset >= strings.size()) return "";
    absl::string_view rest(reinterpret_cast<const char*>(strings.data()) + offset,
                           strings.size() - offset);
    return rest.substr(0, rest.find('\0'));
  }

  llvm::ArrayRef<uint8_t> bytes_;
  std::vector<Elf64_Shdr> sections_;
  size_t names_ = 0;
};

uint32_t WordAt(llvm::ArrayRef<uint8_t> bytes, size_t offset) {
  uint32_t word;
  std::memcpy(&word, bytes.data() + offset, sizeof(word));
  return word;
}

// The kernel's numbers from the attributes of the whole file.
void ReadAttributes(llvm::ArrayRef<uint8_t> attributes, uint32_t symbol, KernelResources& kernel) {
  while (attributes.size() >= 4) {
    uint8_t format = attributes[0], attribute = attributes[1];
    size_t size = format == kSizedFormat ? attributes[2] + 256u * attributes[3] : 0;
    llvm::ArrayRef<uint8_t> value = attributes.drop_front(4);
    if (size > value.size()) return;
    if (size == 8 && WordAt(value, 0) == symbol) {
      int number = static_cast<int>(WordAt(value, 4));
      if (attribute == kRegisterCount) kernel.registers = number;
      if (attribute == kFrameSize || attribute == kMinStackSize) {
        kernel.local_bytes = std::max(kernel.local_bytes, number);
      }
    }
    attributes = value.drop_front(size);
  }
}

}  // namespace

absl::StatusOr<std::vector<KernelResources>> ReadCubin(llvm::ArrayRef<uint8_t> cubin,
                                                       llvm::ArrayRef<std::string> kernels) {
  ElfFile file(cubin);
  if (!file.ReadSections()) return absl::DataLossError("the machine code is no ELF file");
  const std::vector<absl::string_view> symbols = file.Symbols();
  const int64_t reserved_bytes = file.Section(kReservedSection) == nullptr ? 0 : kReservedBytes;
  const Elf64_Shdr* attributes = file.Section(".nv.info");

  std::vector<KernelResources> resources;
  for (const std::string& name : kernels) {
    const Elf64_Shdr* text = file.Section(absl::StrCat(".text.", name));
    auto symbol = std::find(symbols.begin(), symbols.end(), name);
    if (text == nullptr || symbol == symbols.end()) {
      return absl::NotFoundError(absl::StrCat("the machine code holds no kernel ", name));
    }
    KernelResources kernel;
    kernel.name = name;
    kernel.code_bytes = static_cast<int64_t>(text->sh_size);
    if (attributes != nullptr) {
      ReadAttributes(file.BytesOf(*attributes), static_cast<uint32_t>(symbol - symbols.begin()),
                     kernel);
    }
    kernel.spill_bytes = kernel.local_bytes;
    if (const Elf64_Shdr* shared = file.Section(absl::StrCat(".nv.shared.", name))) {
      kernel.static_shared_bytes =
          std::max<int64_t>(0, static_cast<int64_t>(shared->sh_size) - reserved_bytes);
    }
    resources.push_back(std::move(kernel));
  }
  return resources;
}

std::string TakePtxasRemarks(absl::string_view log, std::vector<KernelResources>& kernels) {
  constexpr absl::string_view kFunction = "Function properties for ";
  std::string rest;
  KernelResources* kernel = nullptr;
  for (absl::string_view line : absl::StrSplit(log, '\n', absl::SkipEmpty())) {
    // "ptxas info    : ..." begins a remark and "ptxas         .  ..." goes on with it.
    if (!absl::StartsWith(line, "ptxas info") && !absl::StartsWith(line, "ptxas  ")) {
      absl::StrAppend(&rest, line, "\n");
      continue;
    }
    if (size_t at = line.find(kFunction); at != line.npos) {
      absl::string_view name = line.substr(at + kFunction.size());
      auto found = std::find_if(kernels.begin(), kernels.end(),
                                [&](const auto& row) { return row.name == name; });
      kernel = found == kernels.end() ? nullptr : &*found;
    }
    // "0 bytes stack frame, 668 bytes spill stores, 880 bytes spill loads"
    for (absl::string_view part : absl::StrSplit(line, ", ")) {
      int bytes = 0;
      if (kernel != nullptr && absl::ConsumeSuffix(&part, " bytes spill stores") &&
          absl::SimpleAtoi(part, &bytes)) {
        kernel->spill_bytes = bytes;
      }
    }
  }
  return rest;
}

}  // namespace onepass
