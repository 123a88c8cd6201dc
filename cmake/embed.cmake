# onepass_embed(TARGET OUTPUT_NAME FILES...): compiles the text of FILES into TARGET. The table is
# declared in codegen/templates.h.
function(onepass_embed target output)
  set(cc ${CMAKE_CURRENT_BINARY_DIR}/${output}.cc)
  string(REPLACE ";" "|" joined "${ARGN}")
  add_custom_command(
    OUTPUT ${cc}
    COMMAND ${CMAKE_COMMAND} -DOUT=${cc} "-DFILES=${joined}" -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${cc})
endfunction()
