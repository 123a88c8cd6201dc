// What the opaque handles of onepass.h point to, and what every function of it does with errors.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "codegen/problem.h"
#include "onepass/onepass.h"
#include "runtime/device/device.h"
#include "runtime/engine.h"
#include "runtime/exit_code.h"
#include "runtime/session.h"
#include "runtime/tensor_places.h"

// The session owns device and engine. A benchmark that measures on a device of its own has none.
struct onepass_engine {
  onepass::Device* device = nullptr;
  onepass::Engine* engine = nullptr;
  std::unique_ptr<onepass::Session> session = nullptr;
};

// A problem that has passed Validate. Immutable.
struct onepass_problem {
  explicit onepass_problem(onepass::Problem valid);

  const onepass::Problem problem;
  const std::string text;  // canonical
  const onepass::TensorPlaces places;
  std::vector<std::string> names;  // of places.specs()
};

namespace onepass {

// The code of a status. Keeps the message of an error for onepass_last_error.
onepass_status Report(const absl::Status& status, Stage stage = Stage::kRequest);
onepass_status ReportNull(absl::string_view argument);
onepass_status ReportException(const char* what) noexcept;

// The status that `body` returns, or one for what it throws.
template <typename Body>
onepass_status Guarded(const Body& body) noexcept {
  try {
    return body();
  } catch (const std::exception& error) {
    return ReportException(error.what());
  }
}

}  // namespace onepass
