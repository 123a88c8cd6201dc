// Regions: the sets of elements that a norm takes one mean and one variance of (channels, rows,
// groups, instances), as strides.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/problem.h"
#include "runtime/reference/walk.h"

namespace onepass {

// A view of x with every axis wholly inside a region or wholly across regions; a group norm's
// channels are two axes. All strides are by axis of the view.
struct Regions {
  Walk::Sizes sizes;
  Walk::Sizes x;        // elements of x's memory
  Walk::Sizes logical;  // position in logical order
  Walk::Sizes region;   // number of the region, in the order of the saved statistics
  Walk::Sizes within;   // position inside the region, in logical order
  int64_t count = 1;    // regions
  int64_t size = 1;     // elements of each
};

Regions RegionsOf(const Problem& norm);

// Strides by axis of x, by axis of the view.
Walk::Sizes InView(const Problem& norm, llvm::ArrayRef<int64_t> strides);

// Moments of one region. Of the exact values, to about 1e-12 of the mean of |x| (for f64: 1e-18).
struct Moments {
  long double mean = 0;
  long double variance = 0;  // biased
  long double mean_square = 0;
  long double mean_abs = 0;
};

// By region; empty regions have zeros. `x` holds the memory that the strides of the problem
// describe. On all cores; the result does not depend on how many there are.
std::vector<Moments> MomentsOf(const Problem& norm, const Regions& regions, const uint8_t* x);

}  // namespace onepass
