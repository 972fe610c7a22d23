// SPDX-License-Identifier: MIT
//===- Widen.h - Loops over bytes take words ------------------------------===//
#ifndef COSY_PASS_WIDEN_H
#define COSY_PASS_WIDEN_H

#include "lower/BpfModule.h"
#include "lower/Compound.h"
#include "region/Extracted.h"

namespace cosy {

/// Makes loops over bytes take eight at once.
void widenLoops(BpfModule &B, const Extracted &R, Compound &C);

} // namespace cosy

#endif // COSY_PASS_WIDEN_H
