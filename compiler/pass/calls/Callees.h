// SPDX-License-Identifier: MIT
//===- Callees.h - Which functions a function calls -----------------------===//
#ifndef COSY_PASS_CALLEES_H
#define COSY_PASS_CALLEES_H

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

namespace cosy {

/// Returns the functions that F calls by name.
llvm::SmallSetVector<llvm::Function *, 8> calleesOf(llvm::Function &F);
/// Returns the calls of F by name, each once, though one may pass F as well.
llvm::SmallVector<llvm::CallBase *, 8> callsOf(llvm::Function &F);
/// True if F may call itself, directly or not.
bool recurses(llvm::Function &F);
/// True for a function that ends the program, or the like, on every way.
bool neverReturns(const llvm::Function &F);

} // namespace cosy

#endif // COSY_PASS_CALLEES_H
