// SPDX-License-Identifier: MIT
//===- Markers.h - COSY_START and COSY_END in the source ------------------===//
#ifndef COSY_PASS_MARKERS_H
#define COSY_PASS_MARKERS_H

#include "base/Reason.h"
#include "region/Region.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Function.h"

namespace cosy {

/// True for the calls that the macros make.
bool isMarker(const llvm::Instruction &I);
/// True for the call that COSY_END makes.
bool isEndMarker(const llvm::Instruction &I);
/// True if the function holds a marker.
bool hasMarkers(const llvm::Function &F);
/// Pairs the markers of a function and strips their tokens; returns those
/// that the macros did not make.
Reasons pairMarkers(llvm::Function &F);
/// Finds the next outermost region; Start is null when none is left.
Region findRegion(llvm::Function &F);
/// True if Is holds for some region, including nested ones.
bool anyRegion(llvm::Function &F, llvm::function_ref<bool(const Region &)> Is);
/// True if a block of a region, not its entry, is jumped to from elsewhere.
bool isReachedFromOutside(llvm::BasicBlock *BB,
                          const llvm::SetVector<llvm::BasicBlock *> &Blocks);
/// Removes the markers of one region (Start == nullptr: all that are left).
void dropMarkers(llvm::Function &F, const Region &R);

} // namespace cosy

#endif // COSY_PASS_MARKERS_H
