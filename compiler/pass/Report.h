// SPDX-License-Identifier: MIT
//===- Report.h - Remarks and warnings ------------------------------------===//
#ifndef COSY_PASS_REPORT_H
#define COSY_PASS_REPORT_H

#include "base/Reason.h"
#include "lower/Compound.h"
#include "region/Extracted.h"

namespace cosy {

/// Reports why a region stays native.
void reportNative(const llvm::Function &Host, unsigned RegionLine,
                  llvm::DebugLoc RegionWhere, const Reasons &Why);
/// Reports the calls before which a region ends.
void reportLeft(const llvm::Function &Host, const Reasons &Left);
/// Reports the numbers of a compound's instructions, calls and inputs.
void reportCompiled(const Extracted &R, const Compound &C);
/// Reports the expected saving of a region.
void reportGain(const Extracted &R, const Compound &C);
/// Reports which operations were chosen for calls, and why others were not.
void reportChoices(const Extracted &R, const Compound &C);
/// Warns of a mark that makes no region.
void reportMarker(const llvm::Function &F, llvm::DebugLoc Where,
                  const llvm::Twine &Text);

} // namespace cosy

#endif // COSY_PASS_REPORT_H
