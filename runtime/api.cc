// The C interface to engines, launches and device memory.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/ArrayRef.h"
#include "runtime/api_handles.h"
#include "runtime/options.h"

namespace onepass {

static_assert(int{ONEPASS_FAULT} == kExitCheckFailed && int{ONEPASS_INVALID} == kExitInvalid &&
              int{ONEPASS_UNSUPPORTED} == kExitUnsupported &&
              int{ONEPASS_MISSING} == kExitMissing &&
              int{ONEPASS_COMPILE_FAILED} == kExitCompileFailed &&
              int{ONEPASS_OTHER} == kExitOther);

namespace {

thread_local std::string last_error;

absl::Status CheckOptions(const onepass_options& options) {
  if (options.size != sizeof(onepass_options))
    return absl::InvalidArgumentError(
        absl::StrCat("options.size: ", options.size, " where this version has ",
                     sizeof(onepass_options), "; begin with ONEPASS_OPTIONS_INIT"));
  if (options.cache_limit < 0)
    return absl::InvalidArgumentError(
        absl::StrCat("options.cache_limit: ", options.cache_limit, " is negative"));
  return absl::OkStatus();
}

Options EnvironmentWith(const onepass_options& options) {
  Options environment = OptionsFromEnvironment();
  if (options.cache_dir != nullptr) environment.cache_dir = options.cache_dir;
  if (options.cache_limit != 0) environment.cache_limit = options.cache_limit;
  if (options.cuda_home != nullptr) environment.toolkit.cuda_home = options.cuda_home;
  return environment;
}

// Who is told of what does not work as it should but stops nobody; nobody where no cache folder was
// wanted. Only while `telling`: the caller's function need not live longer than the creation.
std::function<void(absl::string_view)> WarningOf(const onepass_options& options, bool quiet,
                                                 std::shared_ptr<std::atomic<bool>> telling) {
  if (options.cache_dir != nullptr && options.cache_dir[0] == '\0') return nullptr;
  return [warn = options.warn, user = options.warn_user, quiet,
          telling = std::move(telling)](absl::string_view text) {
    if (!*telling) return;
    const std::string line = OneLine(text);
    if (warn != nullptr) {
      warn(line.c_str(), user);
    } else if (!quiet) {
      std::fprintf(stderr, "onepass: warning: %s\n", line.c_str());
    }
  };
}

absl::StatusOr<std::unique_ptr<onepass_engine>> Open(const char* device,
                                                     const onepass_options& options) {
  if (absl::Status checked = CheckOptions(options); !checked.ok()) return checked;
  const Options environment = EnvironmentWith(options);
  const auto telling = std::make_shared<std::atomic<bool>>(true);
  const auto warn = WarningOf(options, environment.log == "error", telling);
  for (const std::string& warning : environment.warnings) {
    if (warn) warn(warning);
  }
  auto session = Session::Open({.device = device != nullptr ? device : environment.device,
                                .use_cache = options.no_cache == 0,
                                .environment = environment,
                                .warn = warn});
  *telling = false;
  if (!session.ok()) return session.status();
  auto engine = std::make_unique<onepass_engine>();
  engine->device = &(*session)->device();
  engine->engine = &(*session)->EngineFor(options.strategy == nullptr ? "" : options.strategy);
  engine->session = *std::move(session);
  return engine;
}

// The alignment that a Key knows of.
absl::StatusOr<int> KeyAlignment(const Problem& problem, int64_t alignment) {
  constexpr int64_t kMost = 16;
  if (alignment == 0) alignment = problem.align > 0 ? problem.align : kMost;
  const int element = SizeOf(problem.dtype);
  if (alignment >= element && (alignment & (alignment - 1)) == 0)
    return static_cast<int>(std::min(alignment, kMost));
  return absl::InvalidArgumentError(absl::StrCat("alignment: ", alignment,
                                                 " is not a power of two of at least the ", element,
                                                 " bytes of ", ToString(problem.dtype)));
}

// Where nothing can be compiled, why not is the news.
onepass_status ReportBuild(const onepass_engine& engine, const absl::Status& status) {
  if (absl::IsUnavailable(status) && engine.session != nullptr &&
      !engine.session->compiler_status().ok())
    return Report(engine.session->compiler_status(), Stage::kBuild);
  return Report(status, Stage::kBuild);
}

onepass_status ReportLaunch(const onepass_engine& engine, const absl::Status& status) {
  const bool kernel_ran = engine.device->simulated() && !absl::IsInvalidArgument(status);
  return Report(status, kernel_ran ? Stage::kSimulatedLaunch : Stage::kRealLaunch);
}

Stream StreamOf(void* stream) { return reinterpret_cast<Stream>(stream); }

onepass_status Run(const onepass_engine& engine, const onepass_problem& p,
                   const onepass_launch& launch) {
  Buffers buffers;
  const absl::Status placed = p.places.Place({launch.addresses, launch.count}, buffers);
  if (!placed.ok()) return Report(placed);
  const auto kernel = engine.engine->KernelFor(p.problem, AlignmentOf(p.problem, buffers));
  if (!kernel.ok()) return ReportBuild(engine, kernel.status());
  if (*kernel == nullptr) return ONEPASS_OK;
  const Workspace workspace = {.address = launch.workspace,
                               .bytes = launch.workspace == 0 ? 0 : launch.workspace_bytes};
  const absl::Status launched =
      engine.engine->Launch(**kernel, p.problem, buffers, workspace, StreamOf(launch.stream));
  return launched.ok() ? ONEPASS_OK : ReportLaunch(engine, launched);
}

absl::Status CheckBytes(int64_t bytes) {
  if (bytes >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("bytes: ", bytes, " is negative"));
}

// What all functions of device memory share; `work` is done where there are bytes.
template <typename Work>
onepass_status WithMemory(onepass_engine* engine, int64_t bytes, const Work& work) {
  if (engine == nullptr) return ReportNull("engine");
  return Guarded([&] {
    if (absl::Status checked = CheckBytes(bytes); !checked.ok()) return Report(checked);
    return bytes == 0 ? ONEPASS_OK : Report(work(*engine->device));
  });
}

}  // namespace

onepass_status Report(const absl::Status& status, Stage stage) {
  if (status.ok()) return ONEPASS_OK;
  last_error = OneLine(status.message());
  return static_cast<onepass_status>(ExitCodeOf(status, stage));
}

onepass_status ReportNull(absl::string_view argument) {
  return Report(absl::InvalidArgumentError(absl::StrCat(argument, ": is null")));
}

onepass_status ReportException(const char* what) noexcept {
  try {
    last_error = what;
  } catch (const std::exception&) {
    last_error.clear();
  }
  return ONEPASS_OTHER;
}

}  // namespace onepass

using onepass::Guarded;
using onepass::Report;
using onepass::ReportNull;
using onepass::WithMemory;

extern "C" {

const char* onepass_version(void) { return ONEPASS_VERSION; }

const char* onepass_last_error(void) { return onepass::last_error.c_str(); }

onepass_status onepass_engine_create(const char* device, const onepass_options* options,
                                     onepass_engine** engine) {
  if (engine == nullptr) return ReportNull("engine");
  return Guarded([&] {
    const onepass_options defaults = ONEPASS_OPTIONS_INIT;
    auto opened = onepass::Open(device, options == nullptr ? defaults : *options);
    if (opened.ok()) *engine = opened->release();
    return Report(opened.status());
  });
}

void onepass_engine_destroy(onepass_engine* engine) { delete engine; }

const char* onepass_engine_device(const onepass_engine* engine) {
  return engine == nullptr ? "" : engine->device->name().c_str();
}

onepass_status onepass_prepare(onepass_engine* engine, const onepass_problem* problem,
                               int64_t alignment, onepass_workspace* workspace) {
  if (engine == nullptr || problem == nullptr)
    return ReportNull(engine == nullptr ? "engine" : "problem");
  return Guarded([&] {
    const auto usable = onepass::KeyAlignment(problem->problem, alignment);
    if (!usable.ok()) return Report(usable.status());
    const auto schedule = engine->engine->ScheduleFor(problem->problem, *usable);
    if (!schedule.ok()) return onepass::ReportBuild(*engine, schedule.status());
    if (workspace != nullptr) *workspace = {schedule->workspace_bytes, schedule->barrier_bytes};
    return ONEPASS_OK;
  });
}

onepass_status onepass_run(onepass_engine* engine, const onepass_problem* problem,
                           const onepass_launch* launch) {
  if (engine == nullptr || problem == nullptr || launch == nullptr)
    return ReportNull(engine == nullptr ? "engine" : problem == nullptr ? "problem" : "launch");
  return Guarded([&] { return onepass::Run(*engine, *problem, *launch); });
}

onepass_status onepass_synchronize(onepass_engine* engine, void* stream) {
  if (engine == nullptr) return ReportNull("engine");
  return Guarded([&] {
    return Report(engine->device->Synchronize(onepass::StreamOf(stream)),
                  onepass::Stage::kRealLaunch);
  });
}

onepass_status onepass_alloc(onepass_engine* engine, int64_t bytes, uint64_t* address) {
  if (address == nullptr) return ReportNull("address");
  *address = 0;
  return WithMemory(engine, bytes, [&](onepass::Device& device) {
    auto allocated = device.Allocate({.bytes = bytes, .label = "memory of onepass_alloc"});
    if (allocated.ok()) *address = *allocated;
    return allocated.status();
  });
}

onepass_status onepass_free(onepass_engine* engine, uint64_t address) {
  return WithMemory(engine, address == 0 ? 0 : 1,
                    [&](onepass::Device& device) { return device.Free(address); });
}

onepass_status onepass_copy_in(onepass_engine* engine, uint64_t to, const void* from,
                               int64_t bytes) {
  return WithMemory(engine, bytes, [&](onepass::Device& device) {
    return device.CopyIn(to, {static_cast<const uint8_t*>(from), static_cast<size_t>(bytes)});
  });
}

onepass_status onepass_copy_out(onepass_engine* engine, void* to, uint64_t from, int64_t bytes) {
  return WithMemory(engine, bytes, [&](onepass::Device& device) {
    return device.CopyOut({static_cast<uint8_t*>(to), static_cast<size_t>(bytes)}, from);
  });
}

onepass_status onepass_zero(onepass_engine* engine, uint64_t address, int64_t bytes) {
  return WithMemory(engine, bytes,
                    [&](onepass::Device& device) { return device.Fill(address, 0, bytes); });
}

}  // extern "C"
