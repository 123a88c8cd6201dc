#include <algorithm>
#include <cstdio>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "codegen/device_spec.h"
#include "runtime/cli/case_flags.h"
#include "runtime/cli/command.h"
#include "runtime/cli/ptx_argument.h"
#include "runtime/device/sim_machine.h"
#include "runtime/exit_code.h"
#include "runtime/sim/gpu.h"
#include "runtime/whole_file.h"

namespace onepass::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--entry", "NAME", "the kernel; may be left out where the file has one"},
    {"--grid", "X[,Y,Z]", "blocks (default 1)"},
    {"--block", "X[,Y,Z]", "threads of a block (default 1)"},
    {"--cluster", "X[,Y,Z]", "blocks of a cluster (default: what the kernel asks for)"},
    {"--cooperative", "", "refuse a grid whose blocks cannot all be resident"},
    {"--shared", "BYTES", "dynamic shared memory of a block"},
    {"--device", "NAME", "sim:NAME (default sim:h200)"},
    kSanitizeFlag,
    kApproxFlag,
    {"--counters", "", "print what was counted"},
    {"--seed", "N", "the interleaving of warps and blocks (default 0)"},
    {"--limit", "N", "warp instructions after which a launch is taken for endless (default 2^32)"},
    {"--arg", "KIND:V",
     "the next argument: u32:V u64:V s32:V f32:V f64:V, in:HEX, out:BYTES, same:K, npy:FILE",
     /*many=*/true},
    {"--save", "K:FILE.npy", "write argument K (from 0) back", /*many=*/true}};

struct Save {
  size_t argument;
  std::string path;
};

struct Request {
  std::string path;
  sim::LaunchShape shape;
  sim::GpuOptions options;
  const DeviceSpec* device = nullptr;
  std::vector<PtxArgument> arguments;
  std::vector<Save> saves;
  bool counters = false;
};

absl::Status ReadTriple(const Arguments& arguments, absl::string_view flag, uint32_t (&to)[3]) {
  if (!arguments.Has(flag)) return absl::OkStatus();
  const std::string text = arguments.Get(flag);
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  bool good = parts.size() <= 3;
  for (size_t i = 0; good && i < parts.size(); ++i) {
    good = absl::SimpleAtoi(parts[i], &to[i]) && to[i] > 0;
  }
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": '", text, "' is not X, X,Y or X,Y,Z of positive numbers"));
}

absl::Status ReadNumbers(const Arguments& arguments, Request& request) {
  const auto shared = arguments.GetNumber("--shared", 0);
  const auto seed = arguments.GetNumber("--seed", 0);
  const auto approx_seed = arguments.GetNumber("--approx-seed", 0);
  const auto limit = arguments.GetNumber("--limit", uint64_t{1} << 32, 1);
  for (const auto* number : {&shared, &seed, &approx_seed, &limit}) {
    if (!number->ok()) return number->status();
  }
  request.shape.dynamic_shared_bytes =
      static_cast<int64_t>(std::min<uint64_t>(*shared, uint64_t{1} << 40));
  request.options.seed = *seed;
  request.options.approx_seed = *approx_seed;
  request.options.instruction_limit =
      static_cast<int64_t>(std::min<uint64_t>(*limit, uint64_t{1} << 60));
  return absl::OkStatus();
}

absl::Status ReadDevice(const Arguments& arguments, Request& request) {
  const std::string name = arguments.Get("--device", "sim:h200");
  absl::string_view chip = name;
  if (absl::ConsumePrefix(&chip, "sim:")) request.device = FindDevice(chip);
  if (request.device != nullptr) return absl::OkStatus();
  std::vector<std::string> known;
  for (const DeviceSpec& device : KnownDevices()) known.push_back("sim:" + device.name);
  return absl::InvalidArgumentError(absl::StrCat("--device: there is no simulated device '", name,
                                                 "'; known are ", absl::StrJoin(known, ", ")));
}

absl::Status ReadSaves(const Arguments& arguments, Request& request) {
  for (const std::string& text : arguments.GetAll("--save")) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
    Save save{0, parts.second};
    if (!absl::SimpleAtoi(parts.first, &save.argument) || save.path.empty() ||
        save.argument >= request.arguments.size() ||
        request.arguments[save.argument].kind == PtxArgument::Kind::kValue) {
      return absl::InvalidArgumentError(
          absl::StrCat("--save ", text, ": not K:FILE with a buffer as argument K"));
    }
    request.saves.push_back(save);
  }
  return absl::OkStatus();
}

absl::StatusOr<Request> ReadRequest(const Arguments& arguments) {
  Request request;
  request.shape.entry = arguments.Get("--entry");
  request.shape.cooperative = arguments.Has("--cooperative");
  request.counters = arguments.Has("--counters");
  request.options.sanitize = arguments.Has("--sanitize");
  request.options.count_traffic = request.counters;
  absl::Status status = ReadTriple(arguments, "--grid", request.shape.grid);
  status.Update(ReadTriple(arguments, "--block", request.shape.block));
  status.Update(ReadTriple(arguments, "--cluster", request.shape.cluster));
  status.Update(ReadNumbers(arguments, request));
  status.Update(ReadDevice(arguments, request));
  if (!status.ok()) return status;
  auto read = ReadPtxArguments(arguments.GetAll("--arg"));
  if (!read.ok()) return read.status();
  request.arguments = *std::move(read);
  status = ReadSaves(arguments, request);
  if (!status.ok()) return status;
  return request;
}

absl::StatusOr<const sim::Entry*> EntryOf(const sim::Module& module, const std::string& name) {
  std::vector<std::string> names;
  for (const sim::Entry& entry : module.entries()) names.push_back(entry.name);
  if (name.empty() && names.size() == 1) return &module.entries()[0];
  const sim::Entry* entry = name.empty() ? nullptr : module.FindEntry(name);
  if (entry != nullptr) return entry;
  const std::string there = names.empty() ? "none" : absl::StrJoin(names, ", ");
  return absl::InvalidArgumentError(
      name.empty() ? absl::StrCat("--entry is needed; the file's kernels: ", there)
                   : absl::StrCat("--entry: there is no kernel '", name, "'; there are: ", there));
}

// PTX runs on its target's architecture and later ones; with a suffix on its own ("a") or on those
// of its family ("f").
absl::Status CheckTarget(const sim::Module& module, const DeviceSpec& device) {
  absl::string_view target = module.target();
  const bool exact = absl::ConsumeSuffix(&target, "a");
  const bool family = absl::ConsumeSuffix(&target, "f");
  int arch = 0;
  if (!absl::ConsumePrefix(&target, "sm_") || !absl::SimpleAtoi(target, &arch)) {
    return absl::OkStatus();
  }
  const bool runs = arch <= device.compute && (!exact || arch == device.compute) &&
                    (!family || arch / 10 == device.compute / 10);
  if (runs) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrFormat("PTX of .target %s does not run on %s, %s",
                                                  module.target(), device.name, device.arch()));
}

absl::StatusOr<std::string> BytesOf(const Request& request, size_t index,
                                    const std::vector<uint64_t>& addresses, sim::Gpu& gpu) {
  const PtxArgument& argument = request.arguments[index];
  const bool same = argument.kind == PtxArgument::Kind::kSame;
  const PtxArgument& buffer = same ? request.arguments[argument.same] : argument;
  std::string bytes(static_cast<size_t>(buffer.size), '\0');
  absl::Status status = gpu.memory().Read(addresses[index], bytes.data(), buffer.size);
  if (!status.ok()) return status;
  return bytes;
}

// What the kernel left in its buffers.
absl::Status Report(const Request& request, const std::vector<uint64_t>& addresses, sim::Gpu& gpu) {
  for (size_t i = 0; i < request.arguments.size(); ++i) {
    if (!request.arguments[i].printed) continue;
    const auto bytes = BytesOf(request, i, addresses, gpu);
    if (!bytes.ok()) return bytes.status();
    absl::PrintF("%s\n", absl::BytesToHexString(*bytes));
  }
  if (request.counters) absl::PrintF("%s\n", gpu.TakeCounts().ToString());
  NewFiles files;
  for (const Save& save : request.saves) {
    const auto bytes = BytesOf(request, save.argument, addresses, gpu);
    if (!bytes.ok()) return bytes.status();
    const PtxArgument& argument = request.arguments[save.argument];
    const bool same = argument.kind == PtxArgument::Kind::kSame;
    absl::Status status = SavePtxArgument(same ? request.arguments[argument.same] : argument,
                                          *bytes, save.path, files);
    if (!status.ok())
      return absl::Status(status.code(), absl::StrCat("--save: ", status.message()));
  }
  return files.Commit();
}

// Findings that did not stop the kernel, one line each.
int ComplainOf(const std::vector<sim::Finding>& findings) {
  for (const sim::Finding& finding : findings) Complain(finding.message, kExitCheckFailed);
  return findings.empty() ? kExitOk : kExitCheckFailed;
}

int Execute(const Request& wanted, const sim::Module& module) {
  Request request = wanted;
  const auto entry = EntryOf(module, request.shape.entry);
  if (!entry.ok()) return Complain(entry.status());
  request.shape.entry = (*entry)->name;
  absl::Status runs = CheckTarget(module, *request.device);
  runs.Update((*entry)->supported);
  if (!runs.ok()) {
    return Complain(absl::StrCat(request.path, ": ", runs.message()), ExitCodeOf(runs));
  }
  sim::Gpu gpu(MachineOf(*request.device), request.options);
  std::vector<uint64_t> addresses;
  const auto packed = PackPtxArguments(**entry, request.arguments, gpu, addresses);
  if (!packed.ok()) return Complain(packed.status());
  const absl::Status status = gpu.Launch(module, request.shape, *packed);
  absl::FPrintF(stderr, "%s", gpu.TakePrinted());  // standard output is the buffers'
  if (absl::IsInvalidArgument(status)) return Complain(status);
  if (!status.ok()) {
    return Complain(status.message(), ExitCodeOf(status, Stage::kSimulatedLaunch));
  }
  const int code = ComplainOf(gpu.TakeFindings());
  const absl::Status reported = Report(request, addresses, gpu);
  return reported.ok() ? code : Complain(reported);
}

int RunPtx(const Arguments& arguments) {
  if (arguments.words().size() != 1) return Complain("ptx: one file is expected", kExitInvalid);
  auto request = ReadRequest(arguments);
  if (!request.ok()) return Complain(request.status());
  const std::string& path = arguments.words()[0];
  const auto text = ReadWholeFile(path);
  if (!text.ok()) return Complain(text.status());
  request->path = path;
  const auto module = sim::Module::Parse(*text);
  if (!module.ok()) {
    return Complain(absl::StrCat(path, ": ", module.status().message()),
                    ExitCodeOf(module.status()));
  }
  return Execute(*request, **module);
}

}  // namespace

const Command kPtxCommand = {
    "ptx", "FILE.ptx", "execute any PTX on a simulated device, whoever made it", kFlags, RunPtx};

}  // namespace onepass::cli
