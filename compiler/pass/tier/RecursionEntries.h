// SPDX-License-Identifier: MIT
//===- RecursionEntries.h - Ways in where a function recurses -------------===//
#ifndef COSY_PASS_RECURSIONENTRIES_H
#define COSY_PASS_RECURSIONENTRIES_H

#include "region/Extracted.h"
#include "tier/Recursion.h"
#include "tier/RegionCost.h"
#include "llvm/IR/PassManager.h"
#include <vector>

namespace cosy {

/// The ways in at a copy of a function that recurses: at its entry, or, if they
/// can be compiled, at the heads of its loops that recurse.
struct RecursionWays {
  Extracted Entry;
  std::vector<Extracted> Heads;
};

/// Has the region's twin call copies of In.Copied, and makes for each of
/// In.Entered the functions that a compound may run in the copy's place.  Adds
/// to the whole region's cost what they save.
std::vector<RecursionWays> enterRecursion(Extracted &R, const Recursion &In,
                                          RegionCost &Whole,
                                          llvm::FunctionAnalysisManager &FAM);
/// Drops the way in at a function's entry, since those at Heads serve, and has
/// the first of them count what the entry's counted.
void enterAtHeads(Extracted &Entry, llvm::ArrayRef<Extracted *> Heads);

} // namespace cosy

#endif // COSY_PASS_RECURSIONENTRIES_H
