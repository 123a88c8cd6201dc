// Walk: one order of visiting the elements of several tensors at once.
//
// The tensors share their sizes; each has its own strides, and anything linear in the coordinates
// (a channel number, a logical index) is a tensor too. The order is the memory order of the first
// one. Axes that all tensors agree on are merged, so that dense tensors are visited in few long
// runs.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "codegen/problem.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace onepass {

class Walk {
 public:
  using Sizes = llvm::SmallVector<int64_t, 6>;

  // A piece of the walk along its innermost axis.
  struct Run {
    int64_t position;  // in walking order
    int64_t length;
    const int64_t* offsets;  // of every tensor, at the first element
  };

  Walk(const Sizes& sizes, llvm::ArrayRef<Sizes> strides);

  int64_t elements() const { return elements_; }
  // Stride of a tensor along the runs.
  int64_t step(int tensor) const { return axes_.back().strides[tensor]; }

  // Visits the elements at positions [begin, begin + count) in runs of at most `longest`.
  void ForEachRun(int64_t begin, int64_t count, int64_t longest,
                  absl::FunctionRef<void(const Run&)> visit) const;

 private:
  struct Axis {
    int64_t size;
    llvm::SmallVector<int64_t, 4> strides;
  };

  std::vector<Axis> axes_;  // outermost first; never empty
  int64_t elements_ = 1;
};

// The strides of `dims` broadcast to `rank` axes; broadcast axes of size 1 have stride 0.
Walk::Sizes BroadcastStrides(const Dims& dims, const Dims& strides, const Dims& to);

}  // namespace onepass
