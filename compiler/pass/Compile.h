// SPDX-License-Identifier: MIT
//===- Compile.h - From an extracted region to a compound -----------------===//
#ifndef COSY_PASS_COMPILE_H
#define COSY_PASS_COMPILE_H

#include "base/Reason.h"
#include "lower/Compound.h"
#include "region/Extracted.h"

namespace cosy {

/// Instructions that are inlined into a compound, unless it gets too large.
constexpr unsigned MaxInlineBudget = 6000;

/// Compiles an extracted region.  False with Why filled in.  Does not change
/// the host's functions.
bool compileRegion(const Extracted &R, Compound &Ret, Reasons &Why);

} // namespace cosy

#endif // COSY_PASS_COMPILE_H
