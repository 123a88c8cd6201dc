#include "runtime/binary.h"

#include "absl/status/status.h"
#include "cache/little_endian.h"

namespace onepass {
namespace {

constexpr uint32_t kVersion = 1;

void AppendField(absl::string_view field, std::string& out) {
  cache::AppendU64(field.size(), out);
  out.append(field.data(), field.size());
}

// Takes fields from the front of some bytes. After one that is not there, all others are empty and
// ok() is false for good.
class FieldReader {
 public:
  explicit FieldReader(absl::string_view bytes) : bytes_(bytes) {}

  absl::string_view Bytes(uint64_t size) {
    if (size > bytes_.size()) {
      ok_ = false;
      bytes_ = absl::string_view();
      return bytes_;
    }
    absl::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  uint32_t U32() {
    absl::string_view taken = Bytes(4);
    return ok_ ? cache::ReadU32(taken) : 0;
  }

  uint64_t U64() {
    absl::string_view taken = Bytes(8);
    return ok_ ? cache::ReadU64(taken) : 0;
  }

  absl::string_view Field() { return Bytes(U64()); }

  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && bytes_.empty(); }

 private:
  absl::string_view bytes_;
  bool ok_ = true;
};

}  // namespace

std::string SerializeBinary(const Binary& binary) {
  std::string bytes;
  cache::AppendU32(kVersion, bytes);
  AppendField(binary.arch, bytes);
  AppendField(
      absl::string_view(reinterpret_cast<const char*>(binary.cubin.data()), binary.cubin.size()),
      bytes);
  AppendField(binary.ptx, bytes);
  AppendField(binary.log, bytes);
  cache::AppendU32(static_cast<uint32_t>(binary.resources.size()), bytes);
  for (const KernelResources& kernel : binary.resources) {
    AppendField(kernel.name, bytes);
    for (int64_t number :
         {int64_t{kernel.registers}, int64_t{kernel.local_bytes}, int64_t{kernel.spill_bytes},
          kernel.static_shared_bytes, kernel.code_bytes}) {
      cache::AppendU64(static_cast<uint64_t>(number), bytes);
    }
  }
  return bytes;
}

absl::StatusOr<Binary> ParseBinary(absl::string_view bytes) {
  FieldReader reader(bytes);
  if (reader.U32() != kVersion) return absl::DataLossError("a binary of another version");
  Binary binary;
  binary.arch = std::string(reader.Field());
  absl::string_view cubin = reader.Field();
  binary.cubin.assign(cubin.begin(), cubin.end());
  binary.ptx = std::string(reader.Field());
  binary.log = std::string(reader.Field());
  // The count is not trusted with an allocation: kernels are read until the bytes end.
  for (uint32_t left = reader.U32(); left > 0 && reader.ok(); --left) {
    KernelResources kernel;
    kernel.name = std::string(reader.Field());
    kernel.registers = static_cast<int>(reader.U64());
    kernel.local_bytes = static_cast<int>(reader.U64());
    kernel.spill_bytes = static_cast<int>(reader.U64());
    kernel.static_shared_bytes = static_cast<int64_t>(reader.U64());
    kernel.code_bytes = static_cast<int64_t>(reader.U64());
    binary.resources.push_back(std::move(kernel));
  }
  if (!reader.at_end()) return absl::DataLossError("a binary's fields do not add up to its bytes");
  return binary;
}

}  // namespace onepass
