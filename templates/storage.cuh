// Element types as they lie in memory, vectors of them, and the arithmetic type. kWideRange:
// squares of values may overflow the arithmetic type or vanish in it. Conversions are inline PTX,
// so that no toolkit header is needed.
#pragma once

namespace onepass_kernel {

struct F32 {
  static constexpr bool kWideRange = true;
  using Raw = unsigned int;
  using Compute = float;
  static __device__ __forceinline__ float Widen(Raw raw) { return __uint_as_float(raw); }
  static __device__ __forceinline__ Raw Narrow(float value) { return __float_as_uint(value); }
};

struct F64 {
  static constexpr bool kWideRange = true;
  using Raw = unsigned long long;
  using Compute = double;
  static __device__ __forceinline__ double Widen(Raw raw) {
    return __longlong_as_double(static_cast<long long>(raw));
  }
  static __device__ __forceinline__ Raw Narrow(double value) {
    return static_cast<Raw>(__double_as_longlong(value));
  }
};

struct F16 {
  static constexpr bool kWideRange = false;
  using Raw = unsigned short;
  using Compute = float;
  static __device__ __forceinline__ float Widen(Raw raw) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(raw));
    return value;
  }
  static __device__ __forceinline__ Raw Narrow(float value) {
    Raw raw;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(raw) : "f"(value));
    return raw;
  }
  static __device__ __forceinline__ void WidenPair(unsigned int word, float& low, float& high) {
    asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
        : "=f"(low), "=f"(high)
        : "r"(word));
  }
  static __device__ __forceinline__ unsigned int NarrowPair(float low, float high) {
    unsigned int word;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
  }
};

struct BF16 {
  static constexpr bool kWideRange = true;
  using Raw = unsigned short;
  using Compute = float;
  static __device__ __forceinline__ float Widen(Raw raw) {
    return __uint_as_float(static_cast<unsigned int>(raw) << 16);
  }
  static __device__ __forceinline__ Raw Narrow(float value) {
    Raw raw;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(raw) : "f"(value));
    return raw;
  }
  static __device__ __forceinline__ void WidenPair(unsigned int word, float& low, float& high) {
    low = __uint_as_float(word << 16);
    high = __uint_as_float(word & 0xffff0000u);
  }
  static __device__ __forceinline__ unsigned int NarrowPair(float low, float high) {
    unsigned int word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
  }
};

// The register image of one access of kBytes: 32-bit words, or half of one.
template <int kBytes>
struct Words {
  unsigned int w[kBytes / 4];
};
template <>
struct Words<2> {
  unsigned short w[1];
};

// Accesses of 2, 4, 8 and 16 bytes. "Streaming" ones carry the evict-first hint: nobody reads these
// bytes again. They are volatile, hence stay in program order, because y may lie on x.
__device__ __forceinline__ void Load(Words<2>& d, const void* p) {
  asm volatile("ld.global.u16 %0, [%1];" : "=h"(d.w[0]) : "l"(p));
}
__device__ __forceinline__ void Load(Words<4>& d, const void* p) {
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(d.w[0]) : "l"(p));
}
__device__ __forceinline__ void Load(Words<8>& d, const void* p) {
  asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(d.w[0]), "=r"(d.w[1]) : "l"(p));
}
__device__ __forceinline__ void Load(Words<16>& d, const void* p) {
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(d.w[0]), "=r"(d.w[1]), "=r"(d.w[2]), "=r"(d.w[3])
               : "l"(p));
}
__device__ __forceinline__ void LoadStreaming(Words<16>& d, const void* p) {
  asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(d.w[0]), "=r"(d.w[1]), "=r"(d.w[2]), "=r"(d.w[3])
               : "l"(p));
}
__device__ __forceinline__ void Store(void* p, const Words<2>& s) {
  asm volatile("st.global.u16 [%0], %1;" ::"l"(p), "h"(s.w[0]));
}
__device__ __forceinline__ void Store(void* p, const Words<4>& s) {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(s.w[0]));
}
__device__ __forceinline__ void Store(void* p, const Words<8>& s) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(s.w[0]), "r"(s.w[1]));
}

__device__ __forceinline__ void StoreStreaming(void* p, const Words<16>& s) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(s.w[0]), "r"(s.w[1]),
               "r"(s.w[2]), "r"(s.w[3]));
}

// kCount elements of type T, moved by one access; addressed in units of that access.
template <class T, int kCount>
struct Vector {
  using Compute = typename T::Compute;
  static constexpr int kBytes = kCount * static_cast<int>(sizeof(typename T::Raw));
  // Narrower accesses leave part of a sector to a neighbour, which needs it soon: it must not be
  // evicted first.
  static constexpr bool kStreams = kBytes == 16;
  Words<kBytes> words;

  __device__ __forceinline__ void Load(const void* base, long long index) {
    onepass_kernel::Load(words, static_cast<const char*>(base) + index * kBytes);
  }
  __device__ __forceinline__ void LoadStreaming(const void* base, long long index) {
    const char* const from = static_cast<const char*>(base) + index * kBytes;
    if constexpr (kStreams) {
      onepass_kernel::LoadStreaming(words, from);
    } else {
      onepass_kernel::Load(words, from);
    }
  }
  __device__ __forceinline__ void StoreStreaming(void* base, long long index) const {
    char* const to = static_cast<char*>(base) + index * kBytes;
    if constexpr (kStreams) {
      onepass_kernel::StoreStreaming(to, words);
    } else {
      onepass_kernel::Store(to, words);
    }
  }

  __device__ __forceinline__ void Unpack(Compute (&values)[kCount]) const {
    if constexpr (kCount == 1 && sizeof(typename T::Raw) <= 4) {
      values[0] = T::Widen(words.w[0]);
    } else if constexpr (sizeof(typename T::Raw) == 2) {
#pragma unroll
      for (int i = 0; i < kCount; i += 2) {
        T::WidenPair(words.w[i / 2], values[i], values[i + 1]);
      }
    } else if constexpr (sizeof(typename T::Raw) == 4) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) values[i] = T::Widen(words.w[i]);
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        values[i] = __hiloint2double(words.w[2 * i + 1], words.w[2 * i]);
      }
    }
  }

  __device__ __forceinline__ void Pack(const Compute (&values)[kCount]) {
    if constexpr (kCount == 1 && sizeof(typename T::Raw) <= 4) {
      words.w[0] = T::Narrow(values[0]);
    } else if constexpr (sizeof(typename T::Raw) == 2) {
#pragma unroll
      for (int i = 0; i < kCount; i += 2) {
        words.w[i / 2] = T::NarrowPair(values[i], values[i + 1]);
      }
    } else if constexpr (sizeof(typename T::Raw) == 4) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) words.w[i] = T::Narrow(values[i]);
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        words.w[2 * i] = __double2loint(values[i]);
        words.w[2 * i + 1] = __double2hiint(values[i]);
      }
    }
  }
};

// One parameter or statistic.
template <class T>
__device__ __forceinline__ typename T::Compute ReadParam(const void* base, long long i) {
  return T::Widen(static_cast<const typename T::Raw*>(base)[i]);
}
template <class T>
__device__ __forceinline__ void WriteParam(void* base, long long i, typename T::Compute value) {
  static_cast<typename T::Raw*>(base)[i] = T::Narrow(value);
}

// 32-bit offsets where every tensor is small enough, else 64-bit.
template <bool kWide>
struct IndexType {
  using Type = unsigned int;
};
template <>
struct IndexType<true> {
  using Type = unsigned long long;
};

}  // namespace onepass_kernel
