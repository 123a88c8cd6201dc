// The C interface to problems.
#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "codegen/validate.h"
#include "runtime/api_handles.h"
#include "runtime/device_tensors.h"

using onepass::Guarded;
using onepass::Report;
using onepass::ReportNull;

namespace onepass {

static_assert(int{ONEPASS_F32} == static_cast<int>(DType::kF32) &&
              int{ONEPASS_F16} == static_cast<int>(DType::kF16) &&
              int{ONEPASS_BF16} == static_cast<int>(DType::kBF16) &&
              int{ONEPASS_F64} == static_cast<int>(DType::kF64) &&
              int{ONEPASS_I64} == static_cast<int>(DType::kI64));

namespace {

absl::StatusOr<Problem> ParseValid(absl::string_view line) {
  absl::StatusOr<Problem> problem = ParseProblem(line);
  if (!problem.ok()) return problem;
  if (absl::Status valid = Validate(*problem); !valid.ok()) return valid;
  return problem;
}

onepass_tensor Describe(const onepass_problem& problem, int index) {
  const TensorSpec& spec = problem.places.specs()[index];
  onepass_tensor tensor = {};
  tensor.name = problem.names[index].c_str();
  tensor.dtype = static_cast<onepass_dtype>(spec.dtype);
  tensor.rank = static_cast<int32_t>(std::min<size_t>(spec.dims.size(), ONEPASS_MAX_RANK));
  std::copy_n(spec.dims.begin(), tensor.rank, tensor.dims);
  std::copy_n(spec.strides.begin(), tensor.rank, tensor.strides);
  tensor.bytes = SpanBytes(spec);
  tensor.is_output = spec.output ? 1 : 0;
  tensor.shares = problem.places.shares(index);
  return tensor;
}

}  // namespace
}  // namespace onepass

onepass_problem::onepass_problem(onepass::Problem valid)
    : problem(std::move(valid)), text(ToString(problem)), places(problem) {
  for (const onepass::TensorSpec& spec : places.specs()) names.push_back(spec.name());
}

extern "C" {

onepass_status onepass_problem_parse(const char* line, onepass_problem** problem) {
  if (line == nullptr || problem == nullptr)
    return ReportNull(line == nullptr ? "line" : "problem");
  return Guarded([&] {
    auto parsed = onepass::ParseValid(line);
    if (!parsed.ok()) return Report(parsed.status());
    *problem = new onepass_problem(*std::move(parsed));
    return ONEPASS_OK;
  });
}

void onepass_problem_destroy(onepass_problem* problem) { delete problem; }

const char* onepass_problem_text(const onepass_problem* problem) {
  return problem == nullptr ? "" : problem->text.c_str();
}

size_t onepass_problem_tensor_count(const onepass_problem* problem) {
  return problem == nullptr ? 0 : problem->names.size();
}

onepass_status onepass_problem_tensor(const onepass_problem* problem, size_t index,
                                      onepass_tensor* tensor) {
  if (problem == nullptr || tensor == nullptr)
    return ReportNull(problem == nullptr ? "problem" : "tensor");
  return Guarded([&] {
    if (index >= problem->names.size())
      return Report(absl::InvalidArgumentError(absl::StrCat(
          "index: ", index, " is not below the ", problem->names.size(), " tensors there are")));
    *tensor = onepass::Describe(*problem, static_cast<int>(index));
    return ONEPASS_OK;
  });
}

int32_t onepass_problem_find(const onepass_problem* problem, const char* name) {
  if (problem == nullptr || name == nullptr) return -1;
  const auto at = std::find(problem->names.begin(), problem->names.end(), name);
  return at == problem->names.end() ? -1 : static_cast<int32_t>(at - problem->names.begin());
}

}  // extern "C"
