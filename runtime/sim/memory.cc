#include "runtime/sim/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_format.h"

namespace onepass::sim {
namespace {

constexpr uint64_t kGranule = uint64_t{1} << GlobalMemory::kGranuleBits;

// Zero pages that the host provides when they are touched.
uint8_t* MapPages(size_t bytes) {
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<uint8_t*>(pages);
}

size_t MappedBytes(const GlobalMemory::Buffer& buffer) {
  return (buffer.begin & 4095) + (buffer.end - buffer.begin) + 64;
}

void Unmap(const GlobalMemory::Buffer& buffer) {
  munmap(buffer.host - (buffer.begin & 4095), MappedBytes(buffer));
}

}  // namespace

// Granule 0 stays empty: it holds the line that ends L2's lists.
GlobalMemory::GlobalMemory(int64_t capacity_bytes, bool track_writes)
    : capacity_bytes_(capacity_bytes), track_writes_(track_writes), granules_(1, nullptr) {}

GlobalMemory::~GlobalMemory() {
  for (const auto& buffer : buffers_) Unmap(*buffer);
}

absl::StatusOr<uint64_t> GlobalMemory::Allocate(int64_t bytes, int64_t alignment,
                                                int64_t misalign_by, std::string label,
                                                int element_bytes) {
  const bool power_of_two = alignment > 0 && std::has_single_bit(static_cast<uint64_t>(alignment));
  if (bytes < 0 || !power_of_two || alignment > 4096 || misalign_by < 0 ||
      misalign_by >= alignment) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "cannot allocate %d bytes for '%s' at %d modulo %d", bytes, label, misalign_by, alignment));
  }
  if (bytes > capacity_bytes_ - allocated_bytes_) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("out of device memory: '%s' needs %d bytes, %d of %d are free", label,
                        bytes, capacity_bytes_ - allocated_bytes_, capacity_bytes_));
  }
  auto buffer = std::make_unique<Buffer>();
  buffer->label = std::move(label);
  buffer->element_bytes = std::max(element_bytes, 1);
  // A page in, so that small negative offsets still find this buffer.
  buffer->begin = kBase + granules_.size() * kGranule + 4096 + misalign_by;
  buffer->end = buffer->begin + bytes;
  uint8_t* pages = MapPages(MappedBytes(*buffer));
  if (pages == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("the host cannot provide %d bytes for '%s'", bytes, buffer->label));
  }
  buffer->host = pages + (buffer->begin & 4095);
  buffer->id = next_id_++;
  if (track_writes_) buffer->written.Reset(bytes);
  const uint64_t granules = (4096 + misalign_by + bytes) / kGranule + 2;
  granules_.insert(granules_.end(), granules, buffer.get());
  allocated_bytes_ += bytes;
  buffers_.push_back(std::move(buffer));
  return buffers_.back()->begin;
}

absl::Status GlobalMemory::Free(uint64_t address) {
  const auto found = std::find_if(buffers_.begin(), buffers_.end(),
                                  [&](const auto& b) { return b->begin == address; });
  if (found == buffers_.end()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("address 0x%x is no allocated buffer", address));
  }
  std::replace(granules_.begin(), granules_.end(), found->get(), static_cast<Buffer*>(nullptr));
  while (granules_.size() > 1 && granules_.back() == nullptr) granules_.pop_back();
  allocated_bytes_ -= static_cast<int64_t>((*found)->end - (*found)->begin);
  Unmap(**found);
  buffers_.erase(found);
  return absl::OkStatus();
}

absl::StatusOr<uint8_t*> GlobalMemory::HostRange(uint64_t address, int64_t bytes) const {
  const Buffer* buffer = Find(address);
  const bool inside = buffer != nullptr && bytes >= 0 && address >= buffer->begin &&
                      address <= buffer->end &&
                      static_cast<uint64_t>(bytes) <= buffer->end - address;
  if (!inside) {
    return absl::OutOfRangeError(
        absl::StrFormat("%d bytes at %s are not in a buffer", bytes, Describe(address)));
  }
  return buffer->host + (address - buffer->begin);
}

absl::Status GlobalMemory::Read(uint64_t address, void* to, int64_t bytes) const {
  const auto host = HostRange(address, bytes);
  if (host.ok()) std::memcpy(to, *host, bytes);
  return host.status();
}

absl::Status GlobalMemory::Write(uint64_t address, const void* from, int64_t bytes) {
  const auto host = HostRange(address, bytes);
  if (host.ok()) {
    std::memcpy(*host, from, bytes);
    NoteWrite(address, bytes);
  }
  return host.status();
}

absl::Status GlobalMemory::Fill(uint64_t address, uint8_t value, int64_t bytes) {
  const auto host = HostRange(address, bytes);
  if (host.ok()) {
    std::memset(*host, value, bytes);
    NoteWrite(address, bytes);
  }
  return host.status();
}

void GlobalMemory::NoteWrite(uint64_t address, int64_t bytes) {
  const Buffer* buffer = Find(address);
  if (track_writes_) buffer->written.Add(address - buffer->begin, bytes);
}

void GlobalMemory::SetWritten(uint64_t address) {
  const Buffer* buffer = Find(address);
  if (buffer != nullptr)
    NoteWrite(buffer->begin, static_cast<int64_t>(buffer->end - buffer->begin));
}

void GlobalMemory::SetReadOnly(uint64_t address) {
  if (address < kBase || (address - kBase) >> kGranuleBits >= granules_.size()) return;
  Buffer* buffer = granules_[(address - kBase) >> kGranuleBits];
  if (buffer != nullptr) buffer->read_only = true;
}

std::string GlobalMemory::Describe(uint64_t address) const {
  const Buffer* buffer = Find(address);
  if (buffer == nullptr) return absl::StrFormat("address 0x%x (no buffer)", address);
  const int64_t size = static_cast<int64_t>(buffer->end - buffer->begin);
  const int64_t offset = static_cast<int64_t>(address - buffer->begin);
  const int64_t unit = buffer->element_bytes;
  const int64_t index = offset >= 0 ? offset / unit : -((-offset + unit - 1) / unit);
  return absl::StrFormat("%s[%d] (byte %d of %d)", buffer->label, index, offset, size);
}

}  // namespace onepass::sim
