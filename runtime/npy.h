// Tensors as NumPy's .npy files: little-endian, C order, logical dims; bf16 as `<u2` holding the
// bits.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "codegen/roles.h"
#include "runtime/new_files.h"
#include "runtime/reference/reference.h"

namespace onepass {

// Reads the tensor that `spec` describes. kInvalidArgument names the file, what was wanted and what
// was found: another shape, type, byte order or Fortran order, a size that is not the header's.
// kNotFound where there is no such file.
absl::StatusOr<HostTensor> ReadNpy(const std::string& path, const TensorSpec& spec);

absl::Status WriteNpy(const std::string& path, const HostTensor& tensor, NewFiles& files);

// The elements in logical C order, without what lies between them in memory; and back. Where
// several logical elements share one place (stride 0), the last one stays.
std::string LogicalBytes(const HostTensor& tensor);
HostTensor FromLogicalBytes(const TensorSpec& spec, absl::string_view bytes);

}  // namespace onepass
