// SPDX-License-Identifier: MIT
//===- Legalize.h - Code that BPF lacks -----------------------------------===//
#ifndef COSY_PASS_LEGALIZE_H
#define COSY_PASS_LEGALIZE_H

#include "base/Reason.h"
#include "lower/BpfModule.h"
#include "lower/Compound.h"

namespace cosy {

/// Expands what BPF lacks; Why says what cannot be.
void legalize(BpfModule &B, Compound &C, Reasons &Why);

} // namespace cosy

#endif // COSY_PASS_LEGALIZE_H
