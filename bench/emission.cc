#include "absl/strings/str_cat.h"
#include "bench/measurements.h"
#include "bench/median.h"
#include "codegen/emit.h"
#include "codegen/strategy.h"

namespace onepass::bench {

void MeasureEmission(const Bench&, Figures& figures) {
  constexpr char kGroup[] = "from a problem to its source";
  constexpr double kLimitUs = 500;
  const DeviceSpec& device = *FindDevice("h200");
  for (const Subject& subject : Subjects()) {
    const Key key = KeyFor(subject);
    const Plan plan = PlanOf(subject);
    const Work works[] = {
        [&](int calls) {
          while (calls-- > 0) (void)PlanFor(key, device).ok();
        },
        [&](int calls) {
          while (calls-- > 0) (void)EmitSource(key, plan);
        },
    };
    const std::vector<double> ns = MedianNanoseconds(works, 51, 4);
    figures.Add({kGroup, absl::StrCat("PlanFor, ", subject.name()), ns[0] * 1e-3, "us"});
    figures.Add(
        {kGroup, absl::StrCat("EmitSource, ", subject.name()), ns[1] * 1e-3, "us", kLimitUs});
  }
}

}  // namespace onepass::bench
