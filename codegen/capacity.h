// What fits on chip: the one place for the arithmetic of DESIGN section 4.
#pragma once

#include <cstdint>

#include "codegen/device_spec.h"
#include "codegen/key.h"

namespace onepass {

// Shared memory that a persistent block may hold data in: the opt-in maximum less what reductions
// need.
int64_t HeldSharedBytes(const DeviceSpec& device, int64_t static_shared_bytes = 4096);

// How many vectors of `vector_bytes` a thread may hold in at most `register_words` registers,
// packed. Never more than 64, of 2 bytes 48: loops over them are unrolled, and longer ones spill in
// bf16.
int HeldRegisterVectors(int vector_bytes, int register_words);

// Registers for the scale and bias of one vector where each of its elements has its own.
int ParamRegisters(const Key& key);

// Registers a thread needs besides those that hold data, for this Key's epilogue. Measured with
// NVRTC 13.0 for sm_80, sm_90 and sm_100; a test compiles the extremes and finds no spill.
int WorkingRegisters(const Key& key);

// Values of the accumulation type that carry a squared sum or a deviation: two where the output has
// that type's precision, so that the last bits count (templates/pair.cuh).
int SquaresValues(const Key& key);

// Bytes of the mean and deviation of one channel that a block hands to another.
int64_t SpreadBytes(const Key& key);

// How many of a thread's `register_vectors` have their epilogue unrolled: all where it is a few
// instructions, otherwise a few elements' worth, because NVRTC takes seconds for hundreds of
// inlined exponentials.
int UnrolledEpilogues(const Key& key, int register_vectors);

// Blocks of this size that an SM holds at once, limited by threads, registers and shared memory; at
// least 1.
int ResidentBlocks(const DeviceSpec& device, int threads, int registers, int64_t shared_bytes);

}  // namespace onepass
