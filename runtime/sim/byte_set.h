// A set of bytes of some memory: which of them have been written.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace onepass::sim {

class ByteSet {
 public:
  // Of `bytes` bytes, empty. Fresh sets are reserved lazily; one of the same size or less is
  // reused.
  void Reset(int64_t bytes) {
    const size_t words = static_cast<size_t>(bytes) / 64 + 2;
    if (words > capacity_) {
      words_.reset(static_cast<uint64_t*>(std::calloc(words, sizeof(uint64_t))));
      capacity_ = words;
    } else {
      std::memset(words_.get(), 0, words * sizeof(uint64_t));
    }
  }
  bool tracked() const { return words_ != nullptr; }

  // Ranges lie inside the memory.
  bool HasAll(uint64_t offset, uint64_t bytes) const {
    bool all = true;
    Each(offset, bytes,
         [&](uint64_t word, uint64_t mask) { all &= (words_[word] & mask) == mask; });
    return all;
  }
  void Add(uint64_t offset, uint64_t bytes) {
    Each(offset, bytes, [&](uint64_t word, uint64_t mask) { words_[word] |= mask; });
  }
  void Remove(uint64_t offset, uint64_t bytes) {
    Each(offset, bytes, [&](uint64_t word, uint64_t mask) { words_[word] &= ~mask; });
  }
  bool Has(uint64_t offset) const { return (words_[offset / 64] >> (offset % 64) & 1) != 0; }

 private:
  struct Free {
    void operator()(uint64_t* words) const { std::free(words); }
  };

  template <class Fn>
  static void Each(uint64_t offset, uint64_t bytes, Fn fn) {
    while (bytes > 0) {
      const uint64_t bit = offset % 64;
      const uint64_t here = bytes < 64 - bit ? bytes : 64 - bit;
      fn(offset / 64, (~uint64_t{0} >> (64 - here)) << bit);
      offset += here;
      bytes -= here;
    }
  }

  std::unique_ptr<uint64_t[], Free> words_;
  size_t capacity_ = 0;
};

}  // namespace onepass::sim
