// SPDX-License-Identifier: MIT
//===- Leave.h - A region that ends before calls it cannot hold -----------===//
#ifndef COSY_PASS_LEAVE_H
#define COSY_PASS_LEAVE_H

#include "base/Reason.h"
#include "region/Region.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

/// Separates early exits of loops from the loops, if a region of the function
/// might end early.  Run this before the first region is extracted, because it
/// copies and removes blocks.
void threadExits(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);
/// Ends a region before calls that it cannot hold, if that gains.  If such a
/// call is in a loop, the region begins at the loop's head.  Left gets a remark
/// for each change.
void leaveEarly(llvm::Function &F, Region &R, Reasons &Left);

} // namespace cosy

#endif // COSY_PASS_LEAVE_H
