# Finds the CUDA toolkit's headers. Only headers are needed to build: NVRTC and the driver are loaded
# at run time. In order: CUDA_HOME, nvcc in PATH, the usual place, the wheels that ./dev fetched.
#   ONEPASS_CUDA_ROOT      the toolkit's folder, where NVRTC is looked for last at run time
#   ONEPASS_CUDA_INCLUDE   the folder of cuda.h and nvrtc.h
find_program(ONEPASS_NVCC nvcc HINTS ENV CUDA_HOME PATH_SUFFIXES bin)
set(candidates "$ENV{CUDA_HOME}")
if(ONEPASS_NVCC)
  get_filename_component(nvcc ${ONEPASS_NVCC} REALPATH)
  get_filename_component(candidate ${nvcc} DIRECTORY)
  get_filename_component(candidate ${candidate} DIRECTORY)
  list(APPEND candidates ${candidate})
endif()
file(GLOB wheels ${PROJECT_SOURCE_DIR}/.toolkit/nvidia/*)
list(APPEND candidates /usr/local/cuda ${wheels})

set(ONEPASS_CUDA_ROOT "")
foreach(candidate IN LISTS candidates)
  if(EXISTS ${candidate}/include/cuda.h AND EXISTS ${candidate}/include/nvrtc.h)
    set(ONEPASS_CUDA_ROOT ${candidate})
    break()
  endif()
endforeach()
if(NOT ONEPASS_CUDA_ROOT)
  message(FATAL_ERROR "no CUDA toolkit: cuda.h and nvrtc.h are neither in CUDA_HOME, nor beside nvcc, "
                      "in /usr/local/cuda or .toolkit; './dev build' fetches them")
endif()
set(ONEPASS_CUDA_INCLUDE ${ONEPASS_CUDA_ROOT}/include)
message(STATUS "CUDA toolkit: ${ONEPASS_CUDA_ROOT}")
