// SPDX-License-Identifier: MIT
//===- Loops.h - From the native twin's loops into the kernel -------------===//
#ifndef COSY_PASS_LOOPS_H
#define COSY_PASS_LOOPS_H

#include "region/Extracted.h"
#include "tier/RegionCost.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace cosy {

/// Inlines the functions that a compiled region calls and that have loops, so
/// that waysIn and countLosses find these, or that make system calls on some
/// paths only, so that these count where they are made; but none of Hosts,
/// which hold regions of their own.
void inlineLoops(Extracted &R, llvm::ArrayRef<llvm::Function *> Hosts,
                 llvm::FunctionAnalysisManager &FAM);
/// Finds the ways in at a few loops of a region's body whose iterations can be
/// counted.  Each is the loop's head (LoopCounts::Skipped), or else a block
/// that begins with a call of the loop (LoopCounts::Call), which it splits off.
llvm::SmallVector<llvm::BasicBlock *, 4> waysIn(Extracted &R);
/// Makes, for each way in, a function that goes on from there to the region's
/// end, and a native twin that calls it there.  Cost is estimateGain's.
std::vector<Extracted> enterLoops(Extracted &R,
                                  llvm::ArrayRef<llvm::BasicBlock *> WaysIn,
                                  const RegionCost &Cost);
/// Returns the heads of a function's loops whose iterations can be counted.
llvm::SmallVector<llvm::BasicBlock *, 4> countedHeads(llvm::Function &F);
/// Makes a value of a loop of the twin: whether its previous iteration made a
/// call; false in the first iteration.  Returns null if control arrives at the
/// head as often as an iteration makes a call.
llvm::Value *keepMade(llvm::Function &Twin, llvm::BasicBlock *Head);
/// Copies a function, as a native twin or as a part of one.
llvm::Function *cloneTwin(llvm::Function &F, llvm::ValueToValueMapTy &Map);
/// Makes a region's twin a copy of its body.
void cloneRegionTwin(Extracted &R, llvm::ValueToValueMapTy &Map);
/// Takes a way in out of the native twin again, since its compound could not be
/// made.
void dropLoopEntry(Extracted &Head);

/// Has calls of a function stand for those of its copy.
void mapSeldom(llvm::MutableArrayRef<SeldomCall> Calls,
               llvm::ValueToValueMapTy &Map);

} // namespace cosy

#endif // COSY_PASS_LOOPS_H
