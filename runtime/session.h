// Session: what all cases of one process share: one device, one store, one NVRTC, an Engine a
// strategy.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "cache/store.h"
#include "runtime/device/device.h"
#include "runtime/engine.h"
#include "runtime/nvrtc.h"
#include "runtime/options.h"

namespace onepass {

// Thread safe.
class Session {
 public:
  struct Settings {
    std::string device;        // "auto", "cuda:0", "sim:h200"
    bool sanitize = false;     // simulated devices: all checkers on
    uint64_t approx_seed = 0;  // simulated devices: how approximate instructions err
    bool use_cache = true;
    Options environment = {};
    // DiskStore::Options::warn.
    std::function<void(absl::string_view)> warn = {};
  };

  // Errors are OpenDevice's. A missing NVRTC is none; it is the error of each case that needs a
  // kernel.
  static absl::StatusOr<std::unique_ptr<Session>> Open(const Settings& settings);
  // On a device that is open already; settings.device is not looked at.
  static std::unique_ptr<Session> On(std::unique_ptr<Device> device, const Settings& settings);

  Device& device() const { return *device_; }
  cache::Store& store() { return *store_; }
  bool sanitizing() const { return sanitizing_; }
  bool caching() const { return caching_; }
  // Why nothing can be compiled, or OK.
  const absl::Status& compiler_status() const { return compiler_status_; }

  // The engine that forces this strategy; "" is free choice. Lives as long as the session.
  Engine& EngineFor(const std::string& strategy);

  // Whether this is the first case that uses the kernel: later ones find it loaded.
  bool FirstUseOf(const std::shared_ptr<const Kernel>& kernel);

  // Held around a measurement, which a device does one of at a time.
  absl::Mutex& measuring() { return measuring_; }

 private:
  Session() = default;

  bool sanitizing_ = false;
  bool caching_ = true;
  std::unique_ptr<Device> device_;  // outlives the engines, whose kernels are loaded on it
  std::unique_ptr<cache::Store> store_;
  std::shared_ptr<Nvrtc> nvrtc_;
  absl::Status compiler_status_;
  absl::Mutex measuring_;
  absl::Mutex mutex_;
  std::map<std::string, std::unique_ptr<Engine>> engines_ ABSL_GUARDED_BY(mutex_);
  std::set<std::shared_ptr<const Kernel>> used_ ABSL_GUARDED_BY(mutex_);
};

// Memory in front of the user's folder of compiled kernels.
std::unique_ptr<cache::Store> OpenStore(const Options& environment,
                                        std::function<void(absl::string_view)> warn);

}  // namespace onepass
