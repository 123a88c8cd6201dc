#include "runtime/sim/counts.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace onepass::sim {
namespace {

constexpr std::pair<const char*, int64_t Counts::*> kFields[] = {
    {"dram_read_bytes", &Counts::dram_read_bytes},
    {"dram_write_bytes", &Counts::dram_write_bytes},
    {"l2_read_bytes", &Counts::l2_read_bytes},
    {"l2_write_bytes", &Counts::l2_write_bytes},
    {"sectors_requested", &Counts::sectors_requested},
    {"useful_bytes", &Counts::useful_bytes},
    {"shared_accesses", &Counts::shared_accesses},
    {"bank_conflicts", &Counts::bank_conflicts},
    {"local_accesses", &Counts::local_accesses},
    {"warp_instructions", &Counts::warp_instructions},
    {"barriers", &Counts::barriers},
    {"global_atomics", &Counts::global_atomics},
    {"launches", &Counts::launches},
    {"issue_slots", &Counts::issue_slots},
    {"alu_slots", &Counts::alu_slots},
    {"fma_slots", &Counts::fma_slots},
    {"fp64_slots", &Counts::fp64_slots},
    {"special_slots", &Counts::special_slots},
    {"lsu_slots", &Counts::lsu_slots},
    {"pipe_picoseconds", &Counts::pipe_picoseconds},
    {"loaded_bytes", &Counts::loaded_bytes},
    {"loaded_in_flight", &Counts::loaded_in_flight},
};
static_assert(sizeof(Counts) == sizeof(int64_t) * std::size(kFields));

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
  for (const auto& [name, field] : kFields) this->*field += other.*field;
  return *this;
}

std::string Counts::ToString() const {
  std::string text;
  for (const auto& [name, field] : kFields) {
    absl::StrAppend(&text, text.empty() ? "" : " ", name, "=");
    if (absl::EndsWith(name, "_slots")) {  // kept in hundredths
      absl::StrAppendFormat(&text, "%.2f", static_cast<double>(this->*field) / 100);
    } else {
      absl::StrAppend(&text, this->*field);
    }
  }
  return text;
}

}  // namespace onepass::sim
