#include "runtime/engine.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cache/digest.h"
#include "codegen/emit.h"
#include "codegen/strategy.h"
#include "codegen/validate.h"
#include "runtime/launch_arguments.h"

namespace onepass {
namespace {

using Clock = std::chrono::steady_clock;

double MicrosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// Everything that a compiled binary depends on.
std::string PreimageOf(const Source& source, const Nvrtc& nvrtc, const std::string& arch) {
  const std::string options = absl::StrJoin(Nvrtc::Options(arch), " ");
  const std::string kernels = absl::StrJoin(source.kernels, " ");
  return cache::PreimageOf(
      {"onepass binary", source.text, kernels, options, nvrtc.version(), arch});
}

Tier TierOf(absl::string_view served_by) {
  return served_by == "disk" ? Tier::kDisk : served_by == "remote" ? Tier::kRemote : Tier::kMemory;
}

absl::Status TooSmall(Workspace workspace, const Schedule& schedule) {
  return absl::InvalidArgumentError(absl::StrCat("workspace: ", workspace.bytes, " bytes; ",
                                                 schedule.workspace_bytes, " are needed"));
}

absl::Status Misaligned(Workspace workspace) {
  return absl::InvalidArgumentError(absl::StrCat("workspace: address ", workspace.address,
                                                 " is not a multiple of ", kWorkspaceAlignment));
}

}  // namespace

absl::string_view ToString(Tier tier) {
  constexpr absl::string_view kNames[] = {"miss", "memory", "disk", "remote", "off", "none"};
  return kNames[static_cast<int>(tier)];
}

Engine::Engine(Device& device, cache::Store& store, std::shared_ptr<Nvrtc> nvrtc,
               EngineOptions options)
    : device_(device), store_(store), nvrtc_(std::move(nvrtc)), options_(std::move(options)) {}

Engine::~Engine() = default;

absl::Status Engine::Run(const Problem& problem, const Buffers& buffers, Workspace workspace,
                         Stream stream) {
  if (absl::Status valid = Validate(problem); !valid.ok()) return valid;
  const absl::StatusOr<const Kernel*> kernel = KernelFor(problem, AlignmentOf(problem, buffers));
  if (!kernel.ok()) return kernel.status();
  if (*kernel == nullptr) return absl::OkStatus();
  return Launch(**kernel, problem, buffers, workspace, stream);
}

absl::Status Engine::Launch(const Kernel& kernel, const Problem& problem, const Buffers& buffers,
                            Workspace workspace, Stream stream) {
  const Extents extents = ExtentsOf(problem);
  const Schedule schedule = kernel.strategy->schedule(kernel.key, kernel.plan, extents);
  if (schedule.workspace_bytes > workspace.bytes) return TooSmall(workspace, schedule);
  if (workspace.address % kWorkspaceAlignment != 0) return Misaligned(workspace);
  const onepass_kernel::Arguments arguments =
      ArgumentsOf(buffers, extents, kernel.plan, workspace.address);
  const llvm::ArrayRef<uint8_t> block(reinterpret_cast<const uint8_t*>(&arguments),
                                      sizeof(arguments));
  for (const LaunchShape& shape : schedule.launches) {
    absl::Status launched =
        device_.Launch({.module = kernel.module.get(), .shape = shape, .arguments = block}, stream);
    if (!launched.ok()) return launched;
  }
  return absl::OkStatus();
}

absl::StatusOr<const std::shared_ptr<const Kernel>*> Engine::Find(const Problem& problem,
                                                                  int alignment) {
  static const std::shared_ptr<const Kernel> kNothingToLaunch;
  if (problem.elements() == 0) {
    if (absl::Status known = CheckStrategyName(options_.strategy); !known.ok()) return known;
    return &kNothingToLaunch;
  }
  if (absl::Status covered = KeyCovers(problem); !covered.ok()) return covered;
  const Key key = KeyOf(problem, alignment, options_.hooks);
  return kernels_.GetOrMake(key, [&] { return Build(key); });
}

absl::StatusOr<const Kernel*> Engine::KernelFor(const Problem& problem, int alignment) {
  const auto found = Find(problem, alignment);
  if (!found.ok()) return found.status();
  return (**found).get();
}

absl::StatusOr<std::shared_ptr<const Kernel>> Engine::Prepare(const Problem& problem,
                                                              int alignment) {
  if (absl::Status valid = Validate(problem); !valid.ok()) return valid;
  const auto found = Find(problem, alignment);
  if (!found.ok()) return found.status();
  return **found;
}

absl::StatusOr<Schedule> Engine::ScheduleFor(const Problem& problem, int alignment) {
  const auto kernel = Prepare(problem, alignment);
  if (!kernel.ok()) return kernel.status();
  if (*kernel == nullptr) return Schedule();
  return ScheduleOf((*kernel)->key, (*kernel)->plan, ExtentsOf(problem));
}

absl::StatusOr<std::shared_ptr<const Kernel>> Engine::Build(const Key& key) {
  auto kernel = std::make_shared<Kernel>();
  kernel->key = key;
  const auto planning = Clock::now();
  absl::StatusOr<Plan> plan = PlanFor(key, device_.spec(), options_.strategy);
  if (!plan.ok()) return plan.status();
  kernel->plan = *plan;
  kernel->strategy = &StrategyOf(key, *plan);
  kernel->source = EmitSource(key, *plan);
  kernel->codegen_us = MicrosecondsSince(planning);

  absl::StatusOr<Binary> binary = FetchOrCompile(*kernel);
  if (!binary.ok()) return binary.status();
  kernel->binary = *std::move(binary);

  const auto loading = Clock::now();
  auto module = device_.Load(kernel->binary, kernel->source.kernels);
  if (!module.ok()) return module.status();
  kernel->module = *std::move(module);
  kernel->load_us = MicrosecondsSince(loading);
  return kernel;
}

absl::StatusOr<Binary> Engine::FetchOrCompile(Kernel& kernel) {
  if (nvrtc_ == nullptr)
    return absl::UnavailableError("NVRTC: none was found, and without one nothing can be compiled");
  const std::string arch = device_.spec().arch();
  const std::string preimage = PreimageOf(kernel.source, *nvrtc_, arch);
  const cache::Digest digest = cache::Digest::Of(preimage);
  kernel.tier = options_.use_cache ? Tier::kMiss : Tier::kOff;
  if (options_.use_cache) {
    if (std::optional<cache::Hit> hit = store_.Get(digest, preimage)) {
      if (absl::StatusOr<Binary> binary = ParseBinary(hit->payload); binary.ok()) {
        kernel.tier = TierOf(hit->served_by);
        return binary;
      }
    }
  }
  absl::StatusOr<Binary> binary = nvrtc_->Compile(kernel.source, arch);
  if (!binary.ok()) return binary;
  kernel.compile_ms = binary->compile_ms;
  if (options_.use_cache) store_.Put(digest, preimage, SerializeBinary(*binary));
  return binary;
}

}  // namespace onepass
