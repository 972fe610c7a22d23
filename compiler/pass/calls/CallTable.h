// SPDX-License-Identifier: MIT
//===- CallTable.h - What libc functions mean, from core/ops.def ----------===//
#ifndef COSY_PASS_CALLTABLE_H
#define COSY_PASS_CALLTABLE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace cosy {

/// A libc function that is exactly one system call or operation.
struct Wrapper {
  uint32_t Number;  ///< From COSY_OP_BASE up: an operation.
  const char *Args; ///< One letter per argument, see core/ops.def.
  bool NoResult;    ///< Operation without a result in r0.
  bool MakesCalls;  ///< System call, or operation that stands for some.
};

/// Finds the call that a libc function means, or null.
const Wrapper *findWrapper(llvm::StringRef LibcName);

/// Returns the number of an operation of core/ops.def, which must exist.
uint32_t operationNumber(llvm::StringRef Name);

/// Returns libc's functions by which a function of libcosy (lib/interp,
/// lib/move) makes the calls of its operation, where it does not make them
/// itself.
llvm::SmallVector<llvm::StringRef, 2> libcFunctionsOf(llvm::StringRef CosyName);

/// Returns why a system call may not be in a compound; nothing if it may.
std::optional<std::string> deniedCall(uint64_t Number);

/// Returns why a function without a body, which no wrapper covers, cannot be
/// called.
std::string whyNoWrapper(llvm::StringRef LibcName);

/// True for a system call, and for an operation that stands for some.
bool makesCalls(uint32_t Number);

/// True for a system call that may remember an address which it is given.
bool keepsAddress(uint32_t Number);

/// True for an argument of a system call, counted from 0, that it may remember
/// or that is no address.
bool keepsArgument(uint32_t Number, unsigned Index);

/// True for an operation whose result points into its first argument.
bool pointsIntoArgument(uint32_t Number);

/// True for a system call that has a specialised version.
bool hasFastVersion(uint32_t Number);

/// True for a system call that looks a path up.
bool takesPath(uint32_t Number);

/// True for libc's functions that return an address which is constant for a
/// thread, other than that of errno.
bool isLocator(llvm::StringRef LibcName);

/// True for system calls that cannot fail, so that their result needs no test.
bool neverFails(uint32_t Number);

} // namespace cosy

#endif // COSY_PASS_CALLTABLE_H
