// Reference of batch_norm.infer and batch_norm.train.
#pragma once

#include <memory>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/reference/reference.h"

namespace onepass {

std::unique_ptr<Reference> MakeBatchNormReference(const Problem& problem,
                                                  llvm::ArrayRef<HostTensor> inputs);

}  // namespace onepass
