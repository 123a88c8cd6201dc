// Reference of pointwise.fwd with an activation.
#pragma once

#include <memory>

#include "absl/types/span.h"
#include "runtime/reference/reference.h"

namespace onepass {

std::unique_ptr<Reference> MakePointwiseReference(const Problem& problem,
                                                  absl::Span<const HostTensor> inputs);

}  // namespace onepass
