// SPDX-License-Identifier: MIT
//===- VariadicCalls.h - Calls of functions that format -------*- C++ -*-===//
#ifndef COSY_PASS_VARIADICCALLS_H
#define COSY_PASS_VARIADICCALLS_H

namespace llvm {
class Function;
} // namespace llvm

namespace cosy {

/// Gives the calls of variadic functions in F's regions, and in the functions
/// that these reach, callees with a fixed number of arguments, if such a
/// function only formats its arguments into memory.
void fixVariadicCalls(llvm::Function &F);

} // namespace cosy

#endif // COSY_PASS_VARIADICCALLS_H
