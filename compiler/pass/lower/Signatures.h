// SPDX-License-Identifier: MIT
//===- Signatures.h - Calls that fit five registers -----------------------===//
#ifndef COSY_PASS_SIGNATURES_H
#define COSY_PASS_SIGNATURES_H

#include "lower/BpfModule.h"

namespace cosy {

/// Makes structures passed by value explicit copies; before optimisation.
void expandByValue(BpfModule &B);
/// Makes the signatures of called functions fit: five registers, one result.
void packSignatures(BpfModule &B);

} // namespace cosy

#endif // COSY_PASS_SIGNATURES_H
