// SPDX-License-Identifier: MIT
//===- Unroll.h - Several iterations at once ------------------------------===//
#ifndef COSY_PASS_UNROLL_H
#define COSY_PASS_UNROLL_H

#include "lower/BpfModule.h"
#include "lower/Compound.h"

namespace cosy {

/// Unrolls small loops that load and store.
void unrollLoops(BpfModule &B, Compound &C);

} // namespace cosy

#endif // COSY_PASS_UNROLL_H
