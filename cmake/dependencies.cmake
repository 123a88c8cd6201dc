# One library per job, each from the distribution. NVRTC, the CUDA driver and cuDNN are not here:
# they are found at run time.
find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Protobuf REQUIRED)
find_package(LLVM REQUIRED CONFIG)
if(LLVM_VERSION_MAJOR LESS 14)
  message(FATAL_ERROR "LLVM ${LLVM_VERSION} is too old: ADT and Support of 14 or newer are needed")
endif()

# ADT and Support only, linked statically: libLLVM.so costs every process its start-up time.
llvm_map_components_to_libnames(ONEPASS_LLVM_LIBS support)
add_library(onepass_llvm INTERFACE)
target_include_directories(onepass_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(onepass_llvm INTERFACE ${LLVM_DEFINITIONS_LIST})
target_link_libraries(onepass_llvm INTERFACE ${ONEPASS_LLVM_LIBS})
# Debian's Support names libz3.so and others that its own code path never reaches; loading them would
# triple the start-up time of every process.
target_link_options(onepass_llvm INTERFACE LINKER:--as-needed)

# The distribution's packages name shared libraries; a static build puts their archives in place.
if(ONEPASS_STATIC)
  add_link_options(-static-libstdc++ -static-libgcc)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
  get_property(imported DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(library IN LISTS imported)
    get_target_property(location ${library} LOCATION)
    string(REGEX REPLACE "\\.so[0-9.]*$" ".a" archive "${location}")
    if(NOT archive STREQUAL location AND EXISTS "${archive}")
      set_target_properties(${library} PROPERTIES IMPORTED_LOCATION "${archive}" IMPORTED_LOCATION_NONE "${archive}"
                            IMPORTED_LOCATION_RELEASE "${archive}" IMPORTED_LOCATION_RELWITHDEBINFO "${archive}")
    endif()
  endforeach()
endif()
