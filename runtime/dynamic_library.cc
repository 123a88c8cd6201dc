#include "runtime/dynamic_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"

namespace onepass {
namespace {

const link_map* LinkMapOf(void* handle) {
  link_map* map = nullptr;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map : nullptr;
}

// The GNU build id among the notes of one loaded segment; empty where there is none.
std::string BuildIdIn(const char* notes, size_t size) {
  auto padded = [](size_t bytes) { return (bytes + 3) & ~size_t{3}; };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof(note));
    size_t whole = sizeof(note) + padded(note.n_namesz) + padded(note.n_descsz);
    if (whole > size) return "";
    absl::string_view name(notes + sizeof(note), note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && name == absl::string_view("GNU", 4)) {
      const char* id = notes + sizeof(note) + padded(note.n_namesz);
      return absl::BytesToHexString(absl::string_view(id, note.n_descsz));
    }
    notes += whole;
    size -= whole;
  }
  return "";
}

struct BuildIdSearch {
  ElfW(Addr) base;
  std::string found;
};

int VisitLibrary(dl_phdr_info* library, size_t, void* data) {
  auto& search = *static_cast<BuildIdSearch*>(data);
  if (library->dlpi_addr != search.base) return 0;
  for (int i = 0; i < library->dlpi_phnum && search.found.empty(); ++i) {
    const ElfW(Phdr)& segment = library->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    search.found = BuildIdIn(reinterpret_cast<const char*>(search.base + segment.p_vaddr),
                             static_cast<size_t>(segment.p_memsz));
  }
  return 1;
}

}  // namespace

absl::StatusOr<DynamicLibrary> DynamicLibrary::Open(const std::string& name) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) return absl::UnavailableError(dlerror());
  return DynamicLibrary(handle);
}

DynamicLibrary::DynamicLibrary(void* handle) : handle_(handle) {
  if (const link_map* map = LinkMapOf(handle)) path_ = map->l_name;
}

void* DynamicLibrary::Symbol(const char* name) const { return dlsym(handle_, name); }

std::string DynamicLibrary::BuildId() const {
  if (const link_map* map = LinkMapOf(handle_)) {
    BuildIdSearch search{.base = map->l_addr, .found = ""};
    dl_iterate_phdr(VisitLibrary, &search);
    if (!search.found.empty()) return search.found;
  }
  auto file = llvm::MemoryBuffer::getFile(path_);
  if (!file) return "unknown";
  return absl::StrCat("xxh64-", absl::Hex(llvm::xxHash64((*file)->getBuffer())));
}

}  // namespace onepass
