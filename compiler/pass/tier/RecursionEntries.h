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

/// Has the region's twin call copies of In.Copied, and makes for each of
/// In.Entered a function that a compound may run in the copy's place.  Adds to
/// the whole region's cost what they save.
std::vector<Extracted> enterRecursion(Extracted &R, const Recursion &In,
                                      RegionCost &Whole,
                                      llvm::FunctionAnalysisManager &FAM);

} // namespace cosy

#endif // COSY_PASS_RECURSIONENTRIES_H
