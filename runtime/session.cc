#include "runtime/session.h"

#include <utility>
#include <vector>

#include "cache/disk_store.h"
#include "cache/memory_store.h"
#include "cache/tiered_store.h"
#include "runtime/device/registry.h"

namespace onepass {

std::unique_ptr<cache::Store> OpenStore(const Options& environment,
                                        std::function<void(absl::string_view)> warn) {
  std::vector<std::unique_ptr<cache::Store>> tiers;
  tiers.push_back(std::make_unique<cache::MemoryStore>());
  tiers.push_back(std::make_unique<cache::DiskStore>(
      cache::DiskStore::Options{.folder = environment.cache_dir,
                                .limit_bytes = environment.cache_limit,
                                .warn = std::move(warn)}));
  return std::make_unique<cache::TieredStore>(std::move(tiers));
}

absl::StatusOr<std::unique_ptr<Session>> Session::Open(const Settings& settings) {
  auto device = OpenDevice(settings.device,
                           {.sanitize = settings.sanitize, .approx_seed = settings.approx_seed});
  if (!device.ok()) return device.status();
  return On(*std::move(device), settings);
}

std::unique_ptr<Session> Session::On(std::unique_ptr<Device> device, const Settings& settings) {
  auto session = std::unique_ptr<Session>(new Session);
  session->device_ = std::move(device);
  session->sanitizing_ = settings.sanitize && session->device_->simulated();
  session->caching_ = settings.use_cache;
  session->store_ =
      settings.use_cache
          ? OpenStore(settings.environment, settings.warn)
          : std::make_unique<cache::TieredStore>(std::vector<std::unique_ptr<cache::Store>>());
  auto nvrtc = Nvrtc::Load(settings.environment.toolkit);
  session->compiler_status_ = nvrtc.status();
  if (nvrtc.ok()) session->nvrtc_ = *std::move(nvrtc);
  return session;
}

Engine& Session::EngineFor(const std::string& strategy) {
  absl::MutexLock lock(&mutex_);
  std::unique_ptr<Engine>& engine = engines_[strategy];
  if (engine == nullptr) {
    EngineOptions options;
    options.strategy = strategy;
    options.use_cache = caching_;
    engine = std::make_unique<Engine>(*device_, *store_, nvrtc_, options);
  }
  return *engine;
}

bool Session::FirstUseOf(const std::shared_ptr<const Kernel>& kernel) {
  absl::MutexLock lock(&mutex_);
  return used_.insert(kernel).second;
}

}  // namespace onepass
