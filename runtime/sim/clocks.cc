#include "runtime/sim/clocks.h"

#include <algorithm>
#include <bit>

namespace onepass::sim {
namespace {

int DigitAt(uint64_t path, int levels) { return static_cast<int>(path >> (5 * (levels - 1)) & 31); }

}  // namespace

const Clocks::Ref* Clocks::Node::Child(int digit) const {
  if ((present >> digit & 1) == 0) return nullptr;
  return &children[std::popcount(present & ((uint64_t{1} << digit) - 1))];
}

bool Clocks::Knows(uint64_t block) const {
  const Node* node = root_.get();
  for (int levels = kBlockLevel; levels > 0 && node != nullptr; --levels) {
    const Ref* child = node->Child(DigitAt(block, levels));
    node = child == nullptr ? nullptr : child->get();
  }
  return node != nullptr;
}

void Clocks::Raise(uint64_t path, int levels, uint32_t bound) {
  root_ = Raised(root_, path, levels, bound);
}

Clocks::Ref Clocks::Raised(const Ref& node, uint64_t path, int levels, uint32_t bound) {
  if (node != nullptr && node->bound >= bound) return node;
  auto* raised = node == nullptr ? new Node() : new Node(*node);
  const Ref result(raised);
  if (levels == 0) {
    raised->bound = bound;
    return result;
  }
  const int digit = DigitAt(path, levels);
  const Ref* child = node == nullptr ? nullptr : node->Child(digit);
  Ref below = Raised(child == nullptr ? Ref() : *child, path, levels - 1, bound);
  const uint64_t bit = uint64_t{1} << digit;
  const int at = std::popcount(raised->present & (bit - 1));
  if (child != nullptr) {
    raised->children[at] = std::move(below);
  } else {
    raised->children.insert(raised->children.begin() + at, std::move(below));
    raised->present |= bit;
  }
  return result;
}

Clocks::Ref Clocks::Joined(const Ref& a, const Ref& b) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr) return b;
  auto* joined = new Node();
  const Ref result(joined);
  joined->bound = std::max(a->bound, b->bound);
  joined->present = a->present | b->present;
  bool like_a = joined->bound == a->bound && joined->present == a->present;
  bool like_b = joined->bound == b->bound && joined->present == b->present;
  for (uint64_t left = joined->present; left != 0; left &= left - 1) {
    const int digit = std::countr_zero(left);
    const Ref* of_a = a->Child(digit);
    const Ref* of_b = b->Child(digit);
    joined->children.push_back(of_a == nullptr   ? *of_b
                               : of_b == nullptr ? *of_a
                                                 : Joined(*of_a, *of_b));
    like_a = like_a && *of_a == joined->children.back();
    like_b = like_b && *of_b == joined->children.back();
  }
  // Shared nodes make the next join cheap.
  return like_a ? a : like_b ? b : result;
}

uint32_t Clocks::Of(uint64_t block, int warp, int lane) const {
  const uint64_t path = (block * 32 + warp) * 32 + lane;
  uint32_t bound = 0;
  const Node* node = root_.get();
  for (int levels = kBlockLevel + 2; node != nullptr; --levels) {
    bound = std::max(bound, node->bound);
    if (levels == 0) break;
    const Ref* child = node->Child(DigitAt(path, levels));
    node = child == nullptr ? nullptr : child->get();
  }
  return bound;
}

}  // namespace onepass::sim
