// SPDX-License-Identifier: MIT
//===- LowerCalls.h - Calls of libc as calls by number --------------------===//
#ifndef COSY_PASS_LOWERCALLS_H
#define COSY_PASS_LOWERCALLS_H

#include "lower/BpfModule.h"
#include "lower/Compound.h"

namespace llvm {
class TargetLibraryInfoImpl;
} // namespace llvm

namespace cosy {

/// Turns calls of libc functions that the table knows into calls by number
/// with errno handling, or of the embedded runtime.  Leaves the others alone.
void lowerCalls(BpfModule &B, Compound &C);
/// Turns calls of functions on strings and memory, which lowerCalls leaves to
/// LLVM, into operations; after optimisation.
void lowerStrings(BpfModule &B);
/// Allows LLVM what it knows about these functions.
void allowStringFunctions(const llvm::Module &M,
                          llvm::TargetLibraryInfoImpl &Library);

} // namespace cosy

#endif // COSY_PASS_LOWERCALLS_H
