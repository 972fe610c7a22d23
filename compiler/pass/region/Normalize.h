// SPDX-License-Identifier: MIT
//===- Normalize.h - The form in which regions are found ------------------===//
#ifndef COSY_PASS_NORMALIZE_H
#define COSY_PASS_NORMALIZE_H

#include "llvm/IR/PassManager.h"

namespace cosy {

/// Has branches carry what __builtin_expect and the like expect of them, so
/// that the estimate knows it; clang's own pipeline does it next.
void lowerExpectations(llvm::Module &M, llvm::FunctionAnalysisManager &FAM);
/// Makes the function fit for findRegion: no scalars in memory, no dead blocks.
void normalizeFunction(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);
/// Has a function keep its arguments and locals in registers, where they can be
/// followed.
void promoteLocals(llvm::Function &F);
/// Normalizes the functions that F gives addresses to, and to those that these
/// do, so that pointersInto can follow them.
void normalizeCallees(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace cosy

#endif // COSY_PASS_NORMALIZE_H
