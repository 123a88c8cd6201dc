// Reference of batch_norm.infer and batch_norm.train.
#pragma once

#include <memory>

#include "absl/types/span.h"
#include "runtime/reference/reference.h"

namespace onepass {

std::unique_ptr<Reference> MakeBatchNormReference(const Problem& problem,
                                                  absl::Span<const HostTensor> inputs);

}  // namespace onepass
