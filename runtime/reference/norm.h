// Reference of all norms, forward.
#pragma once

#include <memory>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/reference/reference.h"

namespace onepass {

std::unique_ptr<Reference> MakeNormReference(const Problem& problem,
                                             llvm::ArrayRef<HostTensor> inputs);

}  // namespace onepass
