#include "runtime/reference/walk.h"

#include <algorithm>
#include <utility>

namespace onepass {

Walk::Walk(const Sizes& sizes, llvm::ArrayRef<Sizes> strides) {
  std::vector<Axis> axes;
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    elements_ *= sizes[axis];
    if (sizes[axis] == 1) continue;
    Axis each{sizes[axis], {}};
    for (const Sizes& tensor : strides) each.strides.push_back(tensor[axis]);
    axes.push_back(std::move(each));
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Axis& a, const Axis& b) { return a.strides[0] > b.strides[0]; });
  for (Axis& axis : axes) {
    if (!axes_.empty()) {
      Axis& outer = axes_.back();
      bool merges = true;
      for (size_t t = 0; t < strides.size(); ++t) {
        merges = merges && outer.strides[t] == axis.strides[t] * axis.size;
      }
      if (merges) {
        outer = {outer.size * axis.size, std::move(axis.strides)};
        continue;
      }
    }
    axes_.push_back(std::move(axis));
  }
  if (axes_.empty()) axes_.push_back({1, llvm::SmallVector<int64_t, 4>(strides.size(), 0)});
}

void Walk::ForEachRun(int64_t begin, int64_t count, int64_t longest,
                      absl::FunctionRef<void(const Run&)> visit) const {
  const size_t tensors = axes_[0].strides.size();
  llvm::SmallVector<int64_t, 6> at(axes_.size());
  llvm::SmallVector<int64_t, 8> offsets(tensors);
  int64_t rest = begin;
  for (size_t axis = axes_.size(); axis-- > 0 && count > 0;) {
    at[axis] = rest % axes_[axis].size;
    rest /= axes_[axis].size;
    for (size_t t = 0; t < tensors; ++t) offsets[t] += at[axis] * axes_[axis].strides[t];
  }
  const size_t inner = axes_.size() - 1;
  const int64_t end = begin + count;
  for (int64_t position = begin; position < end;) {
    const int64_t length = std::min({axes_[inner].size - at[inner], end - position, longest});
    visit({position, length, offsets.data()});
    position += length;
    at[inner] += length;
    for (size_t t = 0; t < tensors; ++t) offsets[t] += length * axes_[inner].strides[t];
    for (size_t axis = inner; axis > 0 && at[axis] == axes_[axis].size; --axis) {
      for (size_t t = 0; t < tensors; ++t) {
        offsets[t] += axes_[axis - 1].strides[t] - axes_[axis].size * axes_[axis].strides[t];
      }
      at[axis] = 0;
      ++at[axis - 1];
    }
  }
}

Walk::Sizes BroadcastStrides(const Dims& dims, const Dims& strides, const Dims& to) {
  Walk::Sizes result(to.size(), 0);
  const size_t shift = to.size() - dims.size();
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] != 1) result[axis + shift] = strides[axis];
  }
  return result;
}

}  // namespace onepass
