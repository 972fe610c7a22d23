// SPDX-License-Identifier: MIT
//===- LibcFunctions.h - Which functions are the C library's --------------===//
#ifndef COSY_PASS_LIBCFUNCTIONS_H
#define COSY_PASS_LIBCFUNCTIONS_H

#include "llvm/IR/Module.h"

namespace cosy {

/// Marks the functions without a body that may be the program's own.
void markForeign(llvm::Module &M);
/// Removes these marks, and those of compiler/frontend on the C library's
/// functions.
void dropLibcMarks(llvm::Module &M);
/// True if a function without a body, or its copy in M, may be the program's
/// own in spite of its name.
bool isForeign(const llvm::Function &F);

/// Returns the function that is called, or null if it is not known.
llvm::Function *calleeOf(const llvm::CallBase &C);
/// Returns the name of the C library's (or libcosy's) function that is called,
/// or "".
llvm::StringRef libcName(const llvm::CallBase &C);

} // namespace cosy

#endif // COSY_PASS_LIBCFUNCTIONS_H
