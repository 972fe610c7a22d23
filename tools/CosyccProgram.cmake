# SPDX-License-Identifier: MIT
# Programs that are built by the cosycc of this build.
#
#   cosycc_program(<output>
#     SOURCES <source>...	C, absolute or in the current folder
#     [OPTIONS <option>...]	for compiling and linking
#     [OBJECTS <file>...]	further objects to link
#     [LIBRARIES <option>...]	the end of the link command)
#
# The compiler reports the headers that a source includes, so a program is built again when one of
# them changes, and no list names them.
function(cosycc_program output)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;OPTIONS;OBJECTS;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "cosycc_program: SOURCES missing, or unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  cosycc_beside(beside ${output})
  set(objects)
  foreach(source ${arg_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    cosycc_object(${beside}.${name}.o ${source} ${arg_OPTIONS})
    list(APPEND objects ${beside}.${name}.o)
  endforeach()
  file(RELATIVE_PATH name ${PROJECT_BINARY_DIR} ${output})
  add_custom_command(OUTPUT ${output}
    COMMAND cosycc ${arg_OPTIONS} ${objects} ${arg_OBJECTS} -o ${output} ${arg_LIBRARIES}
    DEPENDS ${objects} ${arg_OBJECTS} cosycc cosy cosy_static
    COMMENT "cosycc ${name}" VERBATIM)
endfunction()

# cosycc_object(<output> <source> [<option>...]): an object, built again as a program is.
function(cosycc_object output source)
  get_filename_component(source ${source} ABSOLUTE)
  cosycc_beside(beside ${output})
  file(RELATIVE_PATH name ${PROJECT_BINARY_DIR} ${output})
  add_custom_command(OUTPUT ${output}
    COMMAND cosycc ${ARGN} -MMD -MF ${beside}.d -MT ${output} -c ${source} -o ${output}
    DEPENDS ${source} cosycc cosy-pass cosy_headers
    DEPFILE ${beside}.d COMMENT "cosycc ${name}" VERBATIM)
endfunction()

# Sets a path for files that belong to an output, outside of folders that are put into machines whole.
function(cosycc_beside variable output)
  file(RELATIVE_PATH name ${CMAKE_CURRENT_BINARY_DIR} ${output})
  string(REPLACE "/" "-" name ${name})
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/cosycc)
  set(${variable} ${CMAKE_CURRENT_BINARY_DIR}/cosycc/${name} PARENT_SCOPE)
endfunction()
