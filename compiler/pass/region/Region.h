// SPDX-License-Identifier: MIT
//===- Region.h - A marked region inside its function ---------------------===//
#ifndef COSY_PASS_REGION_H
#define COSY_PASS_REGION_H

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/InstrTypes.h"

namespace cosy {

/// A marked region inside its function.  It has a single entry, since the
/// macros open a scope whose clean-up is the END marker.
struct Region {
  llvm::CallBase *Start = nullptr;
  llvm::SmallVector<llvm::CallBase *, 4> Ends;
  llvm::SetVector<llvm::BasicBlock *> Blocks; ///< Entry first.
  unsigned Line = 0;
  bool EndsEarly = false;   ///< Before calls that it cannot hold (Leave.cpp).
  bool BeginsAgain = false; ///< After them, at the head of a loop.
};

} // namespace cosy

#endif // COSY_PASS_REGION_H
