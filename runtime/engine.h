// Engine: the product on one screen. Problem in, launched kernel out; every look-up on the way is
// cached.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/once_map.h"
#include "cache/store.h"
#include "codegen/key.h"
#include "codegen/plan.h"
#include "codegen/problem.h"
#include "runtime/binary.h"
#include "runtime/device/device.h"
#include "runtime/nvrtc.h"
#include "runtime/workspace.h"

namespace onepass {

struct Strategy;

enum class Tier : uint8_t { kMiss, kMemory, kDisk, kRemote, kOff, kNone };
absl::string_view ToString(Tier tier);  // CONTRACT's "cache" field

// A kernel that is ready to launch, with how it came to be.
struct Kernel {
  Key key;
  Plan plan;
  const Strategy* strategy = nullptr;  // the plan's
  Source source;
  Binary binary;
  std::unique_ptr<LoadedModule> module;
  Tier tier = Tier::kMiss;  // where the binary came from
  double codegen_us = 0;    // PlanFor and EmitSource
  double compile_ms = 0;    // inside NVRTC; 0 on a hit
  double load_us = 0;
};

struct EngineOptions {
  std::string strategy;  // force one; "" is free choice
  bool use_cache = true;
  KeyHooks hooks;
};

// Thread safe. Device, store and NVRTC must outlive the engine; `nvrtc` may be null, then
// every Build is kUnavailable: NVRTC's build is part of the name that a binary is stored under.
class Engine {
 public:
  Engine(Device& device, cache::Store& store, std::shared_ptr<Nvrtc> nvrtc,
         EngineOptions options = {});
  ~Engine();

  // Validates, finds or builds the kernel, launches it. Empty problems launch nothing. The
  // workspace must have what ScheduleFor says, which may be no bytes.
  absl::Status Run(const Problem& problem, const Buffers& buffers, Workspace workspace,
                   Stream stream);

  // The two halves of Run, for problems that have passed Validate: the kernel, built if need be,
  // and its launch. The kernel is null for an empty problem, and lives as long as the engine.
  // kInvalidArgument for a forced strategy that there is not, and for a workspace that is too
  // small.
  absl::StatusOr<const Kernel*> KernelFor(const Problem& problem, int alignment);
  absl::Status Launch(const Kernel& kernel, const Problem& problem, const Buffers& buffers,
                      Workspace workspace, Stream stream);

  // The kernel that Run would launch; built if need be. Null for an empty problem.
  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const Problem& problem, int alignment);

  // Scratch memory that Run needs for this problem; its first `barrier_bytes` zeroed once by the
  // owner.
  absl::StatusOr<Schedule> ScheduleFor(const Problem& problem, int alignment);

 private:
  // Null for an empty problem.
  absl::StatusOr<const std::shared_ptr<const Kernel>*> Find(const Problem& problem, int alignment);
  absl::StatusOr<std::shared_ptr<const Kernel>> Build(const Key& key);
  absl::StatusOr<Binary> FetchOrCompile(Kernel& kernel);

  Device& device_;
  cache::Store& store_;
  std::shared_ptr<Nvrtc> nvrtc_;
  EngineOptions options_;
  cache::OnceMap<Key, std::shared_ptr<const Kernel>> kernels_;
};

}  // namespace onepass
