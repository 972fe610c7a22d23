// SPDX-License-Identifier: MIT
//===- Cost.h - What a region would save ----------------------------------===//
#ifndef COSY_PASS_COST_H
#define COSY_PASS_COST_H

#include "region/Extracted.h"
#include "tier/LoopAnalyses.h"
#include "tier/Recursion.h"
#include "tier/RegionCost.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"

namespace cosy {

/// Marks the native loops that a compound takes eight bytes of at once.
void markWidened(llvm::Module &M, llvm::ArrayRef<llvm::DebugLoc> Widened);
/// Estimates what a region's body saves, or one of In.Copied; WaysIn are those
/// of its counted loops: see waysIn.
void estimateGain(const llvm::Function &Body,
                  llvm::ArrayRef<llvm::BasicBlock *> WaysIn,
                  const Recursion &In, RegionCost &Ret);
/// Finds the system calls that not every entry makes, or not every iteration of
/// the loops with these ways in.  Takes what they save out of Cost's sure
/// savings.
llvm::SmallVector<SeldomCall, 4>
findSeldomCalls(llvm::Function &Body, llvm::ArrayRef<llvm::BasicBlock *> WaysIn,
                const Recursion &In, RegionCost &Cost);
/// Returns what an iteration of each of these loops without calls loses, inner
/// loops apart.
llvm::DenseMap<const llvm::Loop *, int64_t>
lossesPerRound(llvm::ArrayRef<const llvm::Loop *> Loops, LoopAnalyses &A);
/// Adds what one of Recursion::Copied saves to the region's cost; IsEntered: it
/// is one of Entered, whose calls are counted.
void addCost(RegionCost &Whole, const RegionCost &Cost, bool IsEntered);

} // namespace cosy

#endif // COSY_PASS_COST_H
