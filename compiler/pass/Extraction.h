// SPDX-License-Identifier: MIT
//===- Extraction.h - Regions become functions ----------------------------===//
#ifndef COSY_PASS_EXTRACTION_H
#define COSY_PASS_EXTRACTION_H

#include "base/Reason.h"
#include "region/Extracted.h"
#include "region/Region.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/PassManager.h"
#include <vector>

namespace cosy {

/// Where a region ends.
enum class RegionEnd {
  AtMark,      ///< At its end mark.
  BeforeCalls, ///< Also before calls that no compound can hold.
};

/// Called for each region with the reasons why it stays native, or else with
/// the calls before which it ends.  A mark that makes no region has no R.Start.
using ExtractionReport =
    llvm::function_ref<void(const llvm::Function &F, const Region &R,
                            const Reasons &Why, const Reasons &Left)>;

/// Returns the functions that hold marks.
llvm::SmallVector<llvm::Function *, 8> markedFunctions(llvm::Module &M);

/// Makes every region of F a function of its own, which is called in its place.
/// Hosts: all functions that hold marks.
std::vector<Extracted> extractRegions(llvm::Function &F,
                                      llvm::ArrayRef<llvm::Function *> Hosts,
                                      RegionEnd End,
                                      llvm::FunctionAnalysisManager &FAM,
                                      ExtractionReport Report);

} // namespace cosy

#endif // COSY_PASS_EXTRACTION_H
