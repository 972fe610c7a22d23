// SPDX-License-Identifier: MIT
//===- ObjectSizes.h - Sizes of objects that _FORTIFY_SOURCE asks for -----===//
#ifndef COSY_PASS_OBJECTSIZES_H
#define COSY_PASS_OBJECTSIZES_H

#include "llvm/IR/PassManager.h"

namespace cosy {

/// Puts the sizes of objects that _FORTIFY_SOURCE asks for in place, where they
/// are known: see ObjectSizes.cpp.  F is normalized.
void resolveObjectSizes(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace cosy

#endif // COSY_PASS_OBJECTSIZES_H
