/* Onepass: kernels for memory-limited layers of neural networks, generated for the problem at hand.
 *
 * The C interface of libonepass. The road through it:
 *
 *     onepass_engine_create      one engine for a device
 *     onepass_problem_parse      "batch_norm.train f16 32x64x56x56:nhwc act=relu"
 *     onepass_problem_tensor     which tensors it reads and writes: name, type, sizes, bytes
 *     onepass_prepare            compile now instead of at the first run; how much workspace
 *     onepass_run                launch, with the tensors' device addresses
 *
 * Errors. Functions that can fail return a onepass_status, whose values are the exit codes of the
 * command line. After a failure, onepass_last_error() has one line for people. Nothing here throws,
 * aborts or prints, but for the warnings described at onepass_options.warn.
 *
 * Threads. Every function may be called from any thread at any time, on shared handles too, but for
 * the two destroy functions, which must be a handle's last call. The first run of a problem
 * compiles while other threads go on; those that want the same kernel wait for it.
 *
 * Ownership. Handles are freed by their destroy function. Strings and arrays that are passed in are
 * read during the call only. Strings that come out belong to the handle they were asked of.
 *
 * Units. Sizes are in bytes where the name says bytes; dims and strides are in elements.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define ONEPASS_API
#else
#define ONEPASS_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum onepass_status {
  ONEPASS_OK = 0,
  ONEPASS_FAULT = 1,          /* a kernel on a simulated device faulted or never came to an end */
  ONEPASS_INVALID = 2,        /* the request is wrong */
  ONEPASS_UNSUPPORTED = 3,    /* a valid problem that this version does not compute */
  ONEPASS_MISSING = 4,        /* the device or the CUDA toolkit is missing; the message says what
                                 brings it */
  ONEPASS_COMPILE_FAILED = 5, /* NVRTC refused the generated source */
  ONEPASS_OTHER = 6           /* anything else: too little memory, an error of the driver */
} onepass_status;

typedef enum onepass_dtype {
  ONEPASS_F32 = 0,
  ONEPASS_F16 = 1,
  ONEPASS_BF16 = 2,
  ONEPASS_F64 = 3,
  ONEPASS_I64 = 4 /* pooling indices */
} onepass_dtype;

/* One device with its loaded kernels, and the cache of compiled ones behind them. */
typedef struct onepass_engine onepass_engine;
/* A problem that has passed every check. Never changes: one handle serves all threads, engines and
 * devices. */
typedef struct onepass_problem onepass_problem;

/* "0.1.0". */
ONEPASS_API const char* onepass_version(void);

/* One line about the calling thread's last call that failed; "" before the first. Good until this
 * thread's next call that fails. */
ONEPASS_API const char* onepass_last_error(void);

/* ---- Engines ---- */

/* All zero but for `size` are the defaults. Start from ONEPASS_OPTIONS_INIT. */
typedef struct onepass_options {
  size_t size;           /* sizeof(onepass_options): tells the library which fields there are */
  const char* cache_dir; /* absolute folder of compiled kernels, created if need be, shared by any
                            number of processes. NULL: ONEPASS_CACHE_DIR, else
                            XDG_CACHE_HOME/onepass, else HOME/.cache/onepass. "": this process's
                            memory only */
  int64_t cache_limit;   /* bytes on disk; 0: ONEPASS_CACHE_LIMIT, else 1 GiB */
  const char* cuda_home; /* the CUDA toolkit with NVRTC; NULL: CUDA_HOME, then the usual places */
  const char*
      strategy; /* forces a strategy, as "multi_pass"; NULL: the fastest by the time model */
  int no_cache; /* not 0: compiled kernels are neither looked up nor kept in the cache.
                   Loaded ones stay loaded all the same */
  /* Told by onepass_engine_create, once each, where the cache folder cannot be used or can only be
   * read, and where the value of an environment variable is ignored: one line without an end, valid
   * during the call. NULL: it goes to standard error, unless ONEPASS_LOG is "error". */
  void (*warn)(const char* line, void* warn_user);
  void* warn_user;
} onepass_options;

#define ONEPASS_OPTIONS_INIT \
  { sizeof(onepass_options), NULL, 0, NULL, NULL, 0, NULL, NULL }

/* Opens a device. `device` is
 *     "cuda:N"     the driver's GPU number N; "cuda" is the first
 *     "sim:h200"   a simulated GPU (a100, h100, h200, b200), which runs the same kernels on the CPU
 *     "auto"       cuda:0 where there is a GPU, else sim:h200
 *     NULL         the environment's ONEPASS_DEVICE, else "auto"
 * `options` may be NULL: all defaults. *engine is written on success only.
 *
 * A CUDA engine works in the GPU's primary context, the one of the CUDA runtime and of most
 * frameworks; the calling thread's current context is left as it was. A missing NVRTC is no error
 * here, but one of every kernel: which NVRTC built it is part of what a kernel is cached under.
 *
 * ONEPASS_INVALID: an unknown device name. ONEPASS_MISSING: no driver or no such GPU. */
ONEPASS_API onepass_status onepass_engine_create(const char* device, const onepass_options* options,
                                                 onepass_engine** engine);

/* Unloads all kernels and frees the memory of onepass_alloc that is left. No launch may be running
 * and no other call may use the engine any more. NULL does nothing. */
ONEPASS_API void onepass_engine_destroy(onepass_engine* engine);

/* "cuda:0", "sim:h200": what was opened, "auto" resolved. */
ONEPASS_API const char* onepass_engine_device(const onepass_engine* engine);

/* ---- Problems ---- */

/* Reads a problem from its one spelling (see "One spelling of a problem" in the documentation) and
 * checks it: whatever is wrong with it is said here and not by onepass_run. Costs microseconds;
 * keep the handle. *problem is written on success only.
 *
 * ONEPASS_INVALID: the words cannot be read, or the values do not make sense together.
 * ONEPASS_UNSUPPORTED: the mathematics forbids it (in place where an input is still needed). */
ONEPASS_API onepass_status onepass_problem_parse(const char* line, onepass_problem** problem);

/* NULL does nothing. */
ONEPASS_API void onepass_problem_destroy(onepass_problem* problem);

/* The canonical spelling: equal problems, equal text. */
ONEPASS_API const char* onepass_problem_text(const onepass_problem* problem);

/* The most axes that a tensor has. */
#define ONEPASS_MAX_RANK 5

/* One tensor that a problem reads or writes. */
typedef struct onepass_tensor {
  const char* name; /* "x", "scale", "running_mean_out"; belongs to the problem */
  onepass_dtype dtype;
  int32_t rank;                      /* 1 to ONEPASS_MAX_RANK */
  int64_t dims[ONEPASS_MAX_RANK];    /* logical: N, C, spatial...; 0 from `rank` on */
  int64_t strides[ONEPASS_MAX_RANK]; /* in elements; 0 from `rank` on */
  int64_t bytes;                     /* from the first element to the end of the last one */
  int32_t is_output;                 /* 0: read. 1: written */
  int32_t shares; /* index of the tensor whose memory this one is (running_mean_out on running_mean;
                     y on x with `inplace`), or -1 */
} onepass_tensor;

/* How many tensors there are, inputs first: the indices of onepass_problem_tensor and of
 * onepass_launch.addresses. */
ONEPASS_API size_t onepass_problem_tensor_count(const onepass_problem* problem);

/* Describes tensor number `index`. ONEPASS_INVALID: there is no such one. */
ONEPASS_API onepass_status onepass_problem_tensor(const onepass_problem* problem, size_t index,
                                                  onepass_tensor* tensor);

/* The index of the tensor of this name, or -1. */
ONEPASS_API int32_t onepass_problem_find(const onepass_problem* problem, const char* name);

/* ---- Compiling and running ---- */

/* Device memory that a launch needs besides the tensors. */
typedef struct onepass_workspace {
  int64_t bytes;         /* 0: none */
  int64_t barrier_bytes; /* the first so many must be zero before the first launch that uses this
                            memory; every launch leaves them zero */
} onepass_workspace;

/* Finds, builds and loads the kernel now: from the process's loaded kernels, the cache, or NVRTC
 * (0.1 to 0.4 s). Afterwards onepass_run with such addresses only launches, so that it may be
 * captured into a CUDA graph. `workspace` may be NULL.
 *
 * Kernels depend on alignment: `alignment` is a power of two that divides the addresses of all
 * tensors of x's type, at least an element's bytes; all from 16 on are the same. 0 stands for 16,
 * or for the problem's own `align` where that is less. Where every element of a row has its own
 * scale and bias (layer and RMS norm), these count as aligned to 16 bytes; if they are not, pass
 * less: as many of x's elements as there are of theirs in their alignment. Both kernel and
 * workspace are those of this alignment.
 *
 * ONEPASS_INVALID, ONEPASS_UNSUPPORTED (this version has no kernel for it, or the forced strategy
 * refuses), ONEPASS_MISSING (it has to be compiled and there is no NVRTC), ONEPASS_COMPILE_FAILED,
 * ONEPASS_OTHER. A failure is not remembered: the next call tries again. */
ONEPASS_API onepass_status onepass_prepare(onepass_engine* engine, const onepass_problem* problem,
                                           int64_t alignment, onepass_workspace* workspace);

/* What one launch works on. */
typedef struct onepass_launch {
  /* Device addresses in the order of onepass_problem_tensor; each at least element-aligned. A
   * tensor that shares another's memory has its address or 0. An empty tensor's address is not
   * looked at. */
  const uint64_t* addresses;
  size_t count;            /* of addresses: onepass_problem_tensor_count */
  uint64_t workspace;      /* device address, aligned to 256 bytes; 0 where none is needed. One
                              workspace serves one launch at a time */
  int64_t workspace_bytes; /* how large it is */
  void* stream;            /* a CUstream or cudaStream_t of the device; NULL: the default stream.
                              Simulated devices have one stream */
} onepass_launch;

/* Launches the problem's kernel in `launch->stream`, building it first where it is not loaded (see
 * onepass_prepare). Asynchronous on real devices, finished on return on simulated ones. Where the
 * kernel is loaded: no allocation, no lock, no system call, well under a microsecond up to the
 * driver's launch. A problem without elements launches nothing.
 *
 * ONEPASS_INVALID: an address is 0 or not aligned to its element, a written tensor overlaps another
 * one (ask for `inplace`), or the workspace is too small. ONEPASS_FAULT: the kernel faulted on a
 * simulated device. ONEPASS_OTHER: the driver refused the launch. Else onepass_prepare's. */
ONEPASS_API onepass_status onepass_run(onepass_engine* engine, const onepass_problem* problem,
                                       const onepass_launch* launch);

/* Waits until everything in the stream is done, and returns what a kernel's fault left there
 * (ONEPASS_OTHER on a real device). */
ONEPASS_API onepass_status onepass_synchronize(onepass_engine* engine, void* stream);

/* ---- Device memory ----
 *
 * Memory of simulated devices can only be had here; on real devices any memory of the GPU will do.
 * Copies and fills are done on return. They do not wait for streams that were made not to block
 * with the default one: onepass_synchronize those first. */

/* At least `bytes` (0 gives address 0), aligned to 256 bytes. ONEPASS_OTHER: there is not enough.
 */
ONEPASS_API onepass_status onepass_alloc(onepass_engine* engine, int64_t bytes, uint64_t* address);
/* `address` is one of onepass_alloc, or 0, which does nothing. */
ONEPASS_API onepass_status onepass_free(onepass_engine* engine, uint64_t address);
ONEPASS_API onepass_status onepass_copy_in(onepass_engine* engine, uint64_t to, const void* from,
                                           int64_t bytes);
ONEPASS_API onepass_status onepass_copy_out(onepass_engine* engine, void* to, uint64_t from,
                                            int64_t bytes);
ONEPASS_API onepass_status onepass_zero(onepass_engine* engine, uint64_t address, int64_t bytes);

/* ---- DLPack ---- */

/* A tensor of the problem as a `const DLTensor*` of dlpack.h, which this header does not need. */
typedef struct onepass_dlpack {
  const char* name; /* as in onepass_tensor */
  const void* tensor;
} onepass_dlpack;

/* Checks `count` tensors against the problem and writes the addresses for onepass_launch, all
 * onepass_problem_tensor_count of them. Every tensor of the problem is named once, in any order;
 * those that share another's memory may be left out. Type, sizes and strides must be the problem's
 * (strides of axes of size 1 do not matter; none at all mean row-major), and the device the
 * engine's: kDLCUDA or kDLCUDAManaged with its number; for a simulated device kDLExtDev with
 * device_id 0, `data` being an address of onepass_alloc. Host memory (kDLCPU) is refused. Addresses
 * include byte_offset.
 *
 * ONEPASS_INVALID: names the tensor and the two values that disagree. */
ONEPASS_API onepass_status onepass_dlpack_addresses(const onepass_engine* engine,
                                                    const onepass_problem* problem,
                                                    const onepass_dlpack* tensors, size_t count,
                                                    uint64_t* addresses);

#ifdef __cplusplus
}
#endif
