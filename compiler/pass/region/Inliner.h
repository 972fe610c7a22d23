// SPDX-License-Identifier: MIT
//===- Inliner.h - Which calls may be inlined before clang does -----------===//
#ifndef COSY_PASS_INLINER_H
#define COSY_PASS_INLINER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstrTypes.h"

namespace cosy {

/// True for a function of which tools see each call (-finstrument-functions).
bool isInstrumented(const llvm::Function &F);

/// True if LLVM can inline the function and no tool sees its calls
/// (-finstrument-functions).
bool isInlinable(const llvm::Function &Callee);

/// True if a call may be inlined into F, whose code also runs natively: the
/// program then does what it does without Cosy.  False for functions that are
/// not inlinable, that the source keeps apart (noinline), that may be replaced
/// at link time, that recurse, or that are compiled for another processor.
bool canInline(const llvm::Function &F, const llvm::CallBase &Call);

/// Inlines those of the calls, and of the calls that come with them, that
/// Wanted selects, in the order of the code.  Returns how many.
unsigned inlineCalls(llvm::ArrayRef<llvm::CallBase *> Calls,
                     llvm::function_ref<bool(llvm::CallBase &)> Wanted);

} // namespace cosy

#endif // COSY_PASS_INLINER_H
