// EmitSource: Key and Plan to one self-contained CUDA source.
#pragma once

#include "codegen/key.h"
#include "codegen/plan.h"

namespace onepass {

// A header comment (key, plan, generator version), a struct of constexpr facts, static_asserts, the
// pieces of templates/ that this kernel includes, the kernels. Compiles with nvcc and NVRTC without
// an include path. Deterministic: same key and plan, same bytes. Locale-free. Below 0.5 ms.
Source EmitSource(const Key& key, const Plan& plan);

}  // namespace onepass
