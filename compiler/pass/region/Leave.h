// SPDX-License-Identifier: MIT
//===- Leave.h - A region that ends before calls it cannot hold -----------===//
#ifndef COSY_PASS_LEAVE_H
#define COSY_PASS_LEAVE_H

#include "base/Reason.h"
#include "region/Region.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

/// Separates the ways out of a function's regions from their loops, where some
/// region might end early.  Comes before the first is extracted: it may copy
/// and remove blocks.
void threadExits(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);
/// Ends a region before calls that it cannot hold.  Where that is in a loop the
/// region begins at the loop's head.  Left gets their names.
void leaveEarly(llvm::Function &F, Region &R, Reasons &Left);

} // namespace cosy

#endif // COSY_PASS_LEAVE_H
