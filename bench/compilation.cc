#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/measurements.h"
#include "bench/median.h"
#include "bench/nvcc.h"

namespace onepass::bench {
namespace {

struct Times {
  std::string name;
  Source source;
  std::vector<double> nvrtc = {};  // ms
  std::vector<double> nvcc = {};
};

}  // namespace

void MeasureCompilation(const Bench& bench, Figures& figures) {
  constexpr int kRounds = 5;
  std::vector<Times> all = {{.name = "an empty kernel", .source = EmptyKernel()}};
  for (const Subject& subject : Subjects()) all.push_back({subject.name(), SourceFor(subject)});
  const std::string nvcc = FindNvcc(bench.cuda_home);
  for (int round = 0; round < kRounds; ++round) {
    for (Times& times : all) {
      const auto binary = bench.nvrtc->Compile(times.source, "sm_90");
      if (binary.ok()) times.nvrtc.push_back(binary->compile_ms);
      if (nvcc.empty()) continue;
      const auto ms = CompileWithNvcc(nvcc, times.source.text, bench.folder);
      if (ms.ok()) times.nvcc.push_back(*ms);
    }
  }
  constexpr char kGroup[] = "compilation for sm_90, NVRTC and nvcc in turns";
  for (const Times& times : all) {
    if (!times.nvrtc.empty())
      figures.Add({kGroup, absl::StrCat("NVRTC, ", times.name), MedianOf(times.nvrtc), "ms"});
    if (!times.nvcc.empty())
      figures.Add({kGroup, absl::StrCat("nvcc,  ", times.name), MedianOf(times.nvcc), "ms"});
  }
  if (nvcc.empty()) figures.Note("nvcc: not found");
}

}  // namespace onepass::bench
