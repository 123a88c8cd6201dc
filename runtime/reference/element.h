// Elements of every type as double or long double, and back.
#pragma once

#include <cstdint>

#include "codegen/dtype.h"

namespace onepass {

// Exact.
float FloatOfHalf(uint16_t bits);
float FloatOfBfloat(uint16_t bits);
// Rounded once, to nearest even; overflow gives infinity, NaN stays NaN.
uint16_t HalfOf(double value);
uint16_t BfloatOf(double value);

// out[i] = element first + i*stride of `data`, exactly. Real is double or long double.
template <typename Real>
void LoadElements(DType dtype, const uint8_t* data, int64_t first, int64_t stride, int64_t count,
                  Real* out);

// Element first + i*stride of `data` = values[i], rounded once.
void StoreElements(DType dtype, const double* values, int64_t count, int64_t first, int64_t stride,
                   uint8_t* data);

// What a floating type can hold.
struct FloatFormat {
  int precision;         // bits of the significand, the hidden one counted
  int least_exponent;    // of the least normal
  double unit_roundoff;  // 2^-precision
  double largest;
  double least_normal;
  double least_subnormal;
  // Values from here on round to infinity: the largest and half a spacing.
  long double overflow;
};
// i64 has precision 64 and unit roundoff 0.
const FloatFormat& FormatOf(DType dtype);

}  // namespace onepass
