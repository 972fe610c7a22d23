# SPDX-License-Identifier: MIT
# Tests that run in virtual machines.
#
#   cosy_vm_test(NAME <name> COMMAND <command>...
#     [KERNELS <series>...]	default: COSY_KERNELS; one test for each, vm-<name>-<series>
#     [ANY_KERNEL]		it does not depend on the kernel: `make test` runs it under one, chosen by the commit
#     [STRIP]			leave debug information out of what is put in
#     [PUT <path>...]		files for the guest's /t; generator expressions welcome
#     [USER nobody] [CPU <model>] [SMP <n>]
#     [BUSY <n>]		of these processors, how many it mostly keeps busy, default all: ctest reserves that many
#     [MEM <MB>] [DISK <dir>] [DISK_TYPE ext4|btrfs]
#     [DISK_BLOCK <bytes>]	of ext4, default 4096
#     [DISK_FEATURES <list>]	of ext4, as mke2fs -O takes them
#     [LOAD <module>...]	of the kernel's own
#     [MODULE <dir>...]	further ones, built and put into /t
#     [ENV NAME=VALUE...]
#     [APPEND <parameters>]	of the kernel; cosy.<name>=<value>: of the module
#     [TIMEOUT <seconds>]	of an idle host, for the whole machine, default 120
#     [LABELS <label>...]	besides vm; nightly: not in `make test`, long: not in `make quick`, own-folder: in `make test`
#				only if its folder changed (tests/run.py)
#     [ICOUNT] [SLOW] [NO_MODULE])	vm.py's --icount and --slow
#
# Exit status 77 of the command means skipped; it then prints why.  ctest -j runs as many machines
# at once as fit by their processors.  The tests vm-kernel-<series> and vm-module-<series> fetch the
# kernel and build the module once; when one fails, those that need it are not run.
function(cosy_vm_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "ICOUNT;SLOW;NO_MODULE;ANY_KERNEL;STRIP"
    "NAME;USER;CPU;SMP;BUSY;MEM;DISK;DISK_TYPE;DISK_BLOCK;DISK_FEATURES;TIMEOUT" "KERNELS;PUT;LOAD;MODULE;ENV;APPEND;LABELS;COMMAND")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME OR NOT arg_COMMAND)
    message(FATAL_ERROR "cosy_vm_test: NAME or COMMAND missing, or unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_KERNELS)
    set(arg_KERNELS ${COSY_KERNELS})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_SMP)
    set(arg_SMP 1)
  endif()
  if(NOT arg_BUSY)
    set(arg_BUSY ${arg_SMP})
  endif()

  # Test what runs in the kernel: not only regions that have earned it.
  list(PREPEND arg_ENV COSY_TIER=always)
  # ... and try specialised versions whose guards fail each time.
  list(PREPEND arg_APPEND cosy.max_missed=0)
  set(options --timeout ${arg_TIMEOUT} --smp ${arg_SMP})
  foreach(name USER CPU MEM DISK DISK_TYPE DISK_BLOCK DISK_FEATURES)
    if(arg_${name})
      string(TOLOWER ${name} option)
      string(REPLACE _ - option ${option})
      list(APPEND options --${option} ${arg_${name}})
    endif()
  endforeach()
  foreach(name PUT LOAD MODULE ENV)
    string(TOLOWER ${name} option)
    foreach(value ${arg_${name}})
      list(APPEND options --${option} ${value})
    endforeach()
  endforeach()
  foreach(value ${arg_APPEND})
    list(APPEND options --append=${value})
  endforeach()
  set(fixture vm-module)
  if(arg_NO_MODULE)
    list(APPEND options --no-module)
    set(fixture vm-kernel)
  endif()
  if(arg_ICOUNT)
    list(APPEND options --icount)
  endif()
  if(arg_SLOW)
    list(APPEND options --slow)
  endif()
  if(arg_STRIP)
    list(APPEND options --strip)
  endif()

  set(labels vm ${arg_LABELS})
  if(arg_ANY_KERNEL)
    list(APPEND labels any-kernel)
  endif()
  foreach(series ${arg_KERNELS})
    set(test vm-${arg_NAME}-${series})
    add_test(NAME ${test} COMMAND_EXPAND_LISTS COMMAND
      ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/vm/vm.py run --kernel ${series} ${options} -- ${arg_COMMAND})
    set_tests_properties(${test} PROPERTIES
      LABELS "${labels}"
      PROCESSORS ${arg_BUSY}
      SKIP_RETURN_CODE 77
      FIXTURES_REQUIRED ${fixture}-${series})
  endforeach()
endfunction()
