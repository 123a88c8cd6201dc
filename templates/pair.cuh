// Numbers in one value of the arithmetic type, or in two where the last bits of one would be
// magnified later. The functions have one name for both, so that a reduction is written once.
#pragma once

namespace onepass_kernel {

template <class C>
struct Single {
  using Compute = C;
  C high;
};
// An unevaluated sum, |low| within an ulp of high.
template <class C>
struct Pair {
  using Compute = C;
  C high;
  C low;
};

// Exact for any order of magnitudes (Knuth).
template <class C>
__device__ __forceinline__ Pair<C> TwoSum(C a, C b) {
  const C sum = a + b;
  const C b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}
template <class C>
__device__ __forceinline__ Pair<C> TwoProduct(C a, C b) {
  const C product = a * b;
  return {product, fma(a, b, -product)};
}
// Restores the bound on low (Dekker); |low| <= |high|. An infinite sum, whose error is NaN, stays
// infinite.
template <class C>
__device__ __forceinline__ Pair<C> Renormalised(C high, C low) {
  const C sum = high + low;
  return low == low ? Pair<C>{sum, low - (sum - high)} : Pair<C>{high, C(0)};
}

template <class C>
__device__ __forceinline__ C Rounded(Single<C> a) {
  return a.high;
}
template <class C>
__device__ __forceinline__ C Rounded(Pair<C> a) {
  return a.high + a.low;
}

template <class C>
__device__ __forceinline__ Single<C> Plus(Single<C> a, Single<C> b) {
  return {a.high + b.high};
}
template <class C>
__device__ __forceinline__ Pair<C> Plus(Pair<C> a, Pair<C> b) {
  const Pair<C> sum = TwoSum(a.high, b.high);
  return Renormalised(sum.high, sum.low + (a.low + b.low));
}

template <class C>
__device__ __forceinline__ Single<C> Plus(Single<C> a, C b) {
  return {a.high + b};
}
template <class C>
__device__ __forceinline__ Pair<C> Plus(Pair<C> a, C b) {
  const Pair<C> sum = TwoSum(a.high, b);
  return Renormalised(sum.high, sum.low + a.low);
}

template <class C>
__device__ __forceinline__ Single<C> Times(Single<C> a, C b) {
  return {a.high * b};
}
template <class C>
__device__ __forceinline__ Pair<C> Times(Pair<C> a, C b) {
  const Pair<C> product = TwoProduct(a.high, b);
  return {product.high, fma(a.low, b, product.low)};
}

template <class C>
__device__ __forceinline__ Single<C> Square(Single<C> a) {
  return {a.high * a.high};
}
template <class C>
__device__ __forceinline__ Pair<C> Square(Pair<C> a) {
  const Pair<C> square = TwoProduct(a.high, a.high);
  return {square.high, fma(C(2) * a.high, a.low, square.low)};
}

template <class C>
__device__ __forceinline__ Single<C> Quotient(Single<C> a, C b) {
  return {a.high / b};
}
template <class C>
__device__ __forceinline__ Pair<C> Quotient(Pair<C> a, C b) {
  const C quotient = a.high / b;
  return {quotient, (fma(-quotient, b, a.high) + a.low) / b};
}

template <class C>
__device__ __forceinline__ Single<C> Root(Single<C> a) {
  return {sqrt(a.high)};
}
template <class C>
__device__ __forceinline__ Pair<C> Root(Pair<C> a) {
  const C root = sqrt(a.high);
  if (root == C(0)) return {root, C(0)};
  return {root, (fma(-root, root, a.high) + a.low) / (root + root)};
}

// 1 / sqrt(a); of a pair by one Newton step on the rounded value. Infinite where a is 0.
template <class C>
__device__ __forceinline__ Single<C> InverseRoot(Single<C> a) {
  return {C(1) / sqrt(a.high)};
}
template <class C>
__device__ __forceinline__ Pair<C> InverseRoot(Pair<C> a) {
  const C inverse = C(1) / sqrt(a.high);
  const C product = a.high * inverse;
  const C defect =
      fma(-product, inverse, C(1)) - (fma(a.high, inverse, -product) + a.low * inverse) * inverse;
  const C low = C(0.5) * inverse * defect;
  return {inverse, fabs(low) <= fabs(inverse) ? low : C(0)};
}

// By a power of two.
template <class C>
__device__ __forceinline__ Single<C> Scaled(Single<C> a, C power) {
  return {a.high * power};
}
template <class C>
__device__ __forceinline__ Pair<C> Scaled(Pair<C> a, C power) {
  return {a.high * power, a.low * power};
}

}  // namespace onepass_kernel
