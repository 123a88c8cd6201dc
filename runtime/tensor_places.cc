#include "runtime/tensor_places.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/device_tensors.h"

namespace onepass {
namespace {

template <typename... Parts>
[[gnu::cold]] absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

std::string Hex(uint64_t address) { return absl::StrCat("0x", absl::Hex(address)); }

}  // namespace

TensorPlaces::TensorPlaces(const Problem& problem) : specs_(TensorsOf(problem)) {
  llvm::SmallVector<bool, 8> written;
  for (const TensorSpec& spec : specs_) {
    shares_.push_back(spec.shares.has_value() ? IndexOf(*spec.shares, spec.stage) : -1);
    written.push_back(spec.output);
  }
  for (size_t i = 0; i < specs_.size(); ++i) {
    if (shares_[i] >= 0 && specs_[i].output) written[shares_[i]] = true;
  }
  if (problem.elements() == 0) return;  // nothing is launched, so nothing is looked at
  for (int i = 0; i < static_cast<int>(specs_.size()); ++i) {
    const TensorSpec& spec = specs_[i];
    if (shares_[i] >= 0 || spec.elements() == 0) continue;
    owners_.push_back({.role = spec.role,
                       .written = written[i],
                       .index = i,
                       .bytes = SpanBytes(spec),
                       .misaligned = static_cast<uint64_t>(SizeOf(spec.dtype)) - 1});
  }
  const auto read_only = std::stable_partition(owners_.begin(), owners_.end(),
                                               [](const Owner& owner) { return owner.written; });
  written_ = static_cast<int>(read_only - owners_.begin());
}

int TensorPlaces::IndexOf(Role role, int stage) const {
  for (int i = 0; i < static_cast<int>(specs_.size()); ++i) {
    if (specs_[i].role == role && specs_[i].stage == stage) return i;
  }
  return -1;
}

absl::Status TensorPlaces::Place(llvm::ArrayRef<uint64_t> addresses, Buffers& buffers) const {
  if (addresses.size() != specs_.size())
    return Invalid("addresses: there are ", addresses.size(), ", but the problem has ",
                   specs_.size(), " tensors");
  for (const Owner& owner : owners_) {
    const uint64_t address = addresses[owner.index];
    if (address == 0 || (address & owner.misaligned) != 0) return BadAddress(owner, address);
    buffers[owner.role] = address;
  }
  if (absl::Status shared = CheckShared(addresses); !shared.ok()) return shared;
  for (size_t i = 0; i < specs_.size(); ++i) {
    if (shares_[i] >= 0) buffers[specs_[i].role] = addresses[shares_[i]];
  }
  return CheckOverlaps(addresses);
}

absl::Status TensorPlaces::CheckShared(llvm::ArrayRef<uint64_t> addresses) const {
  for (size_t i = 0; i < specs_.size(); ++i) {
    if (shares_[i] < 0 || addresses[i] == 0 || addresses[i] == addresses[shares_[i]]) continue;
    if (owners_.empty()) continue;
    return Invalid(specs_[i].name(), ": lies at ", Hex(addresses[i]), " but shares the memory of ",
                   specs_[shares_[i]].name(), " at ", Hex(addresses[shares_[i]]));
  }
  return absl::OkStatus();
}

absl::Status TensorPlaces::CheckOverlaps(llvm::ArrayRef<uint64_t> addresses) const {
  const int count = static_cast<int>(owners_.size());
  for (int i = 0; i < written_; ++i) {
    const uint64_t begin = addresses[owners_[i].index];
    const uint64_t end = begin + owners_[i].bytes;
    for (int j = i + 1; j < count; ++j) {
      const uint64_t other = addresses[owners_[j].index];
      if (other < end && begin < other + owners_[j].bytes) return Overlap(owners_[i], owners_[j]);
    }
  }
  return absl::OkStatus();
}

absl::Status TensorPlaces::BadAddress(const Owner& owner, uint64_t address) const {
  const TensorSpec& spec = specs_[owner.index];
  if (address == 0) return Invalid(spec.name(), ": its address is 0");
  return Invalid(spec.name(), ": its address ", Hex(address), " is not a multiple of ",
                 owner.misaligned + 1, ", the bytes of ", ToString(spec.dtype));
}

absl::Status TensorPlaces::Overlap(const Owner& written, const Owner& other) const {
  const std::string name = specs_[written.index].name();
  return Invalid(name, ": is written, but its ", written.bytes, " bytes overlap the ", other.bytes,
                 " bytes of ", specs_[other.index].name());
}

}  // namespace onepass
