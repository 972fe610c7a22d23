# SPDX-License-Identifier: MIT
# Links a program with musl alone, statically, where its compiler wrapper is installed.  Such a program starts in
# a sixth of the instructions: no libraries are loaded, and it has few pages.

find_program(COSY_MUSL_GCC musl-gcc DOC "musl's wrapper of gcc, by which the cosy command is linked")
mark_as_advanced(COSY_MUSL_GCC)

# Returns in `ret` the specs that the wrapper, a script, hands to gcc; or nothing.
function(cosy_find_musl ret)
  set(specs "")
  if(COSY_MUSL_GCC AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT COSY_SANITIZE AND EXISTS /usr/include/linux/types.h)
    file(READ ${COSY_MUSL_GCC} script)
    string(REGEX MATCH "/[^\"' ]*musl-gcc\\.specs" specs "${script}")
  endif()
  set(${ret} "${specs}" PARENT_SCOPE)
endfunction()

# Sources of the program's libraries have to be its own, since they must be compiled for musl as well.
function(cosy_link_musl program specs)
  # The kernel's headers, which musl does not have.
  set(kernel ${CMAKE_CURRENT_BINARY_DIR}/kernel)
  file(MAKE_DIRECTORY ${kernel})
  foreach(folder linux asm asm-generic)
    set(found /usr/include/${folder})
    if(NOT EXISTS ${found})
      set(found /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/${folder})
    endif()
    file(CREATE_LINK ${found} ${kernel}/${folder} SYMBOLIC)
  endforeach()
  target_include_directories(${program} SYSTEM PRIVATE ${kernel})
  target_compile_options(${program} PRIVATE -specs=${specs} -ffunction-sections -fdata-sections)
  target_link_options(${program} PRIVATE
    -specs=${specs} -static LINKER:--gc-sections LINKER:-z,noseparate-code)
endfunction()
