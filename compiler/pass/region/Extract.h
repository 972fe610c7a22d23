// SPDX-License-Identifier: MIT
//===- Extract.h - A region becomes a function ----------------------------===//
#ifndef COSY_PASS_EXTRACT_H
#define COSY_PASS_EXTRACT_H

#include "base/Reason.h"
#include "region/Extracted.h"
#include "region/Region.h"

namespace cosy {

/// Moves a region into a function of its own.  False with Why filled in when
/// that cannot be done; the function is then as it was.
bool extractRegion(llvm::Function &F, Region &R, Extracted &Ret, Reasons &Why);

} // namespace cosy

#endif // COSY_PASS_EXTRACT_H
