// The part of a tensor that a thread keeps on chip between its only load and its only store: first
// in registers, then in shared memory, in the storage type.
#pragma once

#include "storage.cuh"

namespace onepass_kernel {

// kCount register images of kBytes each; images of two bytes share a register. DropFirst moves the
// others to the front.
template <int kBytes, int kCount>
struct HeldRegisters {
  Words<kBytes> images[kCount];
  __device__ __forceinline__ void Put(int i, const Words<kBytes>& image) { images[i] = image; }
  __device__ __forceinline__ Words<kBytes> Get(int i) const { return images[i]; }
  template <int kDropped>
  __device__ __forceinline__ void DropFirst() {
#pragma unroll
    for (int i = 0; i + kDropped < kCount; ++i) images[i] = images[i + kDropped];
  }
};
template <int kCount>
struct HeldRegisters<2, kCount> {
  static constexpr int kPairs = (kCount + 1) / 2;
  unsigned int pairs[kPairs];
  __device__ __forceinline__ void Put(int i, const Words<2>& image) {
    const unsigned int half = image.w[0];
    pairs[i / 2] = i % 2 == 0 ? half : (pairs[i / 2] | half << 16);
  }
  __device__ __forceinline__ Words<2> Get(int i) const {
    return {{static_cast<unsigned short>(i % 2 == 0 ? pairs[i / 2] : pairs[i / 2] >> 16)}};
  }
  template <int kDropped>
  __device__ __forceinline__ void DropFirst() {
    static_assert(kDropped % 2 == 0);
#pragma unroll
    for (int i = 0; i + kDropped / 2 < kPairs; ++i) pairs[i] = pairs[i + kDropped / 2];
  }
};

// Dynamic shared memory, one image a thread and step, so that a warp's accesses are contiguous.
template <int kBytes, int kThreads>
struct HeldShared {
  Words<kBytes>* base;
  __device__ __forceinline__ explicit HeldShared(void* shared)
      : base(static_cast<Words<kBytes>*>(shared) + threadIdx.x) {}
  __device__ __forceinline__ void Put(int i, const Words<kBytes>& image) const {
    if constexpr (kBytes == 16) {
      reinterpret_cast<uint4*>(base)[i * kThreads] =
          make_uint4(image.w[0], image.w[1], image.w[2], image.w[3]);
    } else if constexpr (kBytes == 8) {
      reinterpret_cast<uint2*>(base)[i * kThreads] = make_uint2(image.w[0], image.w[1]);
    } else {
      base[i * kThreads] = image;
    }
  }
  __device__ __forceinline__ Words<kBytes> Get(int i) const {
    if constexpr (kBytes == 16) {
      const uint4 w = reinterpret_cast<const uint4*>(base)[i * kThreads];
      return {{w.x, w.y, w.z, w.w}};
    } else if constexpr (kBytes == 8) {
      const uint2 w = reinterpret_cast<const uint2*>(base)[i * kThreads];
      return {{w.x, w.y}};
    } else {
      return base[i * kThreads];
    }
  }
};

// What one thread holds: kRegisterVectors in registers and kSharedVectors in shared memory, of
// which the first `count` are in use. Visit and Consume call body(slot, vector) for those in use,
// in order.
template <class F>
struct Held {
  using V = Vector<typename F::Element, F::kVector>;
  static constexpr int kSlots = F::kRegisterVectors + F::kSharedVectors;
  // Vectors on their way to shared memory at a time. Doubles leave few registers.
  static constexpr int kSharedGroup = sizeof(typename F::Compute) == 8 ? 2 : 4;
  HeldRegisters<V::kBytes, F::kRegisterVectors> registers;
  HeldShared<V::kBytes, F::kThreads> shared;
  int count;

  __device__ __forceinline__ Held(void* dynamic_shared, int used)
      : shared(dynamic_shared), count(used) {}

  // at(slot) is the index of the vector in memory.
  template <class At>
  __device__ __forceinline__ void LoadAll(const void* x, At at) {
#pragma unroll
    for (int i = 0; i < F::kRegisterVectors; ++i) {
      V v = {};
      if (i < count) v.LoadStreaming(x, at(i));
      registers.Put(i, v.words);
    }
    if constexpr (F::kSharedVectors > 0) LoadShared(x, at);
  }

  template <class Body>
  __device__ __forceinline__ void Visit(Body body) const {
#pragma unroll
    for (int i = 0; i < F::kRegisterVectors; ++i) {
      if (i < count) body(i, V{registers.Get(i)});
    }
    VisitShared<2>(body);
  }

  // The last visit. A body that is long is repeated kWriteVectors times only, and the registers
  // move past it: that costs moves, but neither compile time nor instruction cache.
  template <class Body>
  __device__ __forceinline__ void Consume(Body body) {
    if constexpr (F::kWriteVectors >= F::kRegisterVectors) {
      Visit(body);
    } else {
#pragma unroll 1
      for (int first = 0; first < F::kRegisterVectors; first += F::kWriteVectors) {
#pragma unroll
        for (int i = 0; i < F::kWriteVectors; ++i) {
          if (first + i < F::kRegisterVectors && first + i < count)
            body(first + i, V{registers.Get(i)});
        }
        registers.template DropFirst<F::kWriteVectors>();
      }
      VisitShared<1>(body);
    }
  }

 private:
  template <class At>
  __device__ __forceinline__ void LoadShared(const void* x, At at) {
    for (int i = F::kRegisterVectors; i < count; i += kSharedGroup) {
      V group[kSharedGroup];
#pragma unroll
      for (int j = 0; j < kSharedGroup; ++j) {
        if (i + j < count) group[j].LoadStreaming(x, at(i + j));
      }
#pragma unroll
      for (int j = 0; j < kSharedGroup; ++j) {
        if (i + j < count) shared.Put(i + j - F::kRegisterVectors, group[j].words);
      }
    }
  }
  template <int kUnroll, class Body>
  __device__ __forceinline__ void VisitShared(Body body) const {
    if constexpr (F::kSharedVectors > 0) {
#pragma unroll kUnroll
      for (int i = F::kRegisterVectors; i < count; ++i)
        body(i, V{shared.Get(i - F::kRegisterVectors)});
    }
  }
};

}  // namespace onepass_kernel
