// Reference of pointwise.fwd with an activation.
#pragma once

#include <memory>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/reference/reference.h"

namespace onepass {

std::unique_ptr<Reference> MakePointwiseReference(const Problem& problem,
                                                  llvm::ArrayRef<HostTensor> inputs);

}  // namespace onepass
