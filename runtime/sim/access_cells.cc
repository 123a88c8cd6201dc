#include "runtime/sim/access_cells.h"

#include <cstring>
#include <new>
#include <utility>

namespace onepass::sim {

AccessCells::Array AccessCells::Make(int64_t cells) {
  auto* ids = static_cast<AccessId*>(std::calloc(cells + 1, sizeof(AccessId)));
  if (ids == nullptr) throw std::bad_alloc();
  return Array(ids);
}

void AccessCells::Reset(int64_t bytes) {
  shift_ = 2;
  bytes_ = bytes;
  cells_ = (bytes + 3) / 4 + 1;
  if (cells_ > capacity_) {
    capacity_ = cells_;
    writes_ = Make(cells_);
    reads_ = Make(cells_);
    others_ = Make(cells_);
  } else {
    std::memset(writes_.get(), 0, cells_ * sizeof(AccessId));
    if (any_reads) std::memset(reads_.get(), 0, cells_ * sizeof(AccessId));
    if (any_others) std::memset(others_.get(), 0, cells_ * sizeof(AccessId));
  }
  any_reads = any_others = false;
}

void AccessCells::Refine(int64_t bytes) {
  if (bytes >= int64_t{1} << shift_) return;
  const int shift = bytes >= 2 ? 1 : 0;
  const int64_t parts = int64_t{1} << (shift_ - shift);
  const int64_t cells = cells_ * parts;
  for (Array* array : {&writes_, &reads_, &others_}) {
    Array finer = Make(cells);
    for (int64_t i = 0; i < cells_; ++i) {
      const AccessId id = array->get()[i];
      for (int64_t part = 0; id != 0 && part < parts; ++part) finer[i * parts + part] = id;
    }
    *array = std::move(finer);
  }
  shift_ = shift;
  cells_ = cells;
  capacity_ = cells;
}

}  // namespace onepass::sim
