// The groups of figures, one file each.
#pragma once

#include "bench/figures.h"
#include "bench/subjects.h"

namespace onepass::bench {

// emission.cc: PlanFor and EmitSource.
void MeasureEmission(const Bench& bench, Figures& figures);
// compilation.cc: NVRTC for our sources and for an empty kernel, nvcc for the same sources.
void MeasureCompilation(const Bench& bench, Figures& figures);
// first_request.cc: from a request to its launch, compiled, from disk, from memory.
void MeasureFirstRequest(const Bench& bench, Figures& figures);
// launch_path.cc: requests whose kernel is loaded.
void MeasureLaunchPath(const Bench& bench, Figures& figures);
// executor.cc: warp instructions a second of the simulated GPU, by kind.
void MeasureExecutor(const Bench& bench, Figures& figures);
// simulation.cc: what whole problems cost on the simulated GPU.
void MeasureSimulation(const Bench& bench, Figures& figures);
// residency.cc: the host's memory under a chip full of blocks; part of MeasureSimulation.
void MeasureResidency(const Bench& bench, Figures& figures);

}  // namespace onepass::bench
