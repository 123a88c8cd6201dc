/* Proves that onepass.h is C: this file is compiled as strict C99. */
#include "onepass/onepass.h"

static void count_warning(const char* line, void* count) {
  (void)line;
  ++*(int*)count;
}

/* Runs relu on a simulated device by way of C alone; returns the status of the call that failed, or
 * -1 where the numbers are wrong. `toolkit` is CUDA_HOME or NULL. */
int onepass_test_relu_in_c(const char* toolkit) {
  const float x[4] = {-1.0f, 2.0f, -3.0f, 4.0f};
  float y[4] = {9.0f, 9.0f, 9.0f, 9.0f};
  uint64_t addresses[2] = {0, 0};
  int warnings = 0;
  onepass_options options = ONEPASS_OPTIONS_INIT;
  onepass_launch launch = {NULL, 2, 0, 0, NULL};
  onepass_engine* engine = NULL;
  onepass_problem* problem = NULL;
  int status;

  options.cache_dir = "";
  options.cuda_home = toolkit;
  options.warn = count_warning;
  options.warn_user = &warnings;
  launch.addresses = addresses;
  status = onepass_engine_create("sim:h200", &options, &engine);
  if (status == ONEPASS_OK) status = onepass_problem_parse("relu.fwd f32 4", &problem);
  if (status == ONEPASS_OK) status = onepass_alloc(engine, sizeof(x), &addresses[0]);
  if (status == ONEPASS_OK) status = onepass_alloc(engine, sizeof(y), &addresses[1]);
  if (status == ONEPASS_OK) status = onepass_copy_in(engine, addresses[0], x, sizeof(x));
  if (status == ONEPASS_OK) status = onepass_run(engine, problem, &launch);
  if (status == ONEPASS_OK) status = onepass_synchronize(engine, NULL);
  if (status == ONEPASS_OK) status = onepass_copy_out(engine, y, addresses[1], sizeof(y));
  if (status == ONEPASS_OK && (y[0] != 0.0f || y[1] != 2.0f || y[2] != 0.0f || y[3] != 4.0f))
    status = -1;
  onepass_problem_destroy(problem);
  onepass_engine_destroy(engine);
  return warnings != 0 ? -1 : status;
}
