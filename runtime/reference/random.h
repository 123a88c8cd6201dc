// Random numbers by index: any element can be drawn without the ones before it.
#pragma once

#include <cstdint>

namespace onepass {

// A stream of independent numbers; two keys give unrelated streams.
uint64_t StreamKey(uint64_t seed, uint64_t stream);

// out[i] = number first + i*step of the stream: standard normal, or uniform in [0, 1). The same
// bits on every machine: only additions, products and square roots.
void DrawNormal(uint64_t key, int64_t first, int64_t step, int64_t count, double* out);
void DrawUniform(uint64_t key, int64_t first, int64_t step, int64_t count, double* out);

}  // namespace onepass
