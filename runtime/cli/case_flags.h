// The flags that `run`, `batch` and `onnx` share, and what they mean.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/case_run.h"
#include "runtime/cli/arguments.h"
#include "runtime/session.h"

namespace onepass::cli {

inline constexpr Flag kDeviceFlag{
    "--device", "NAME", "auto|cuda|cuda:N|sim:NAME; auto is a GPU if there is one, else sim:h200"};
inline constexpr Flag kStrategyFlag{"--strategy", "NAME",
                                    "force one; refused where it does not accept the problem"};
inline constexpr Flag kInFlag{"--in", "DIR", "read DIR/ROLE.npy for the roles that are there"};
inline constexpr Flag kOutFlag{"--out", "DIR", "write every input and output as DIR/ROLE.npy"};
inline constexpr Flag kSeedFlag{"--seed", "N", "of the generated inputs (default 0)"};
inline constexpr Flag kDataFlag{
    "--data", "SPEC", "normal:MEAN,STD|uniform:LO,HI|constant:V|special (default normal:0,1)"};
inline constexpr Flag kCheckFlag{"--check", "", "compare with the float64 reference (the default)"};
inline constexpr Flag kNoCheckFlag{"--no-check", "", "do not compare"};
inline constexpr Flag kSanitizeFlag{"--sanitize", "", "simulated devices: all checkers on"};
inline constexpr Flag kApproxFlag{
    "--approx-seed", "N",
    "simulated devices: approximate instructions err within their documented bounds; 0 little, 1 "
    "upwards, 2 downwards, others anyhow (default 0)"};
inline constexpr Flag kJsonFlag{"--json", "", "JSON on standard output, one object a line"};
inline constexpr Flag kNoCacheFlag{"--no-cache", "", "neither read nor write compiled kernels"};

struct CaseFlags {
  CaseOptions options;
  std::string in;   // "" generates all inputs
  std::string out;  // "" writes nothing
  bool json = false;
};

// Errors name the flag.
absl::StatusOr<CaseFlags> ReadCaseFlags(const Arguments& arguments);

// The session that --device, --sanitize and --no-cache and the environment ask for.
absl::StatusOr<std::unique_ptr<Session>> OpenSession(const Arguments& arguments);

}  // namespace onepass::cli
