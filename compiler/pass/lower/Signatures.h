// SPDX-License-Identifier: MIT
//===- Signatures.h - Calls that fit five registers -----------------------===//
#ifndef COSY_PASS_SIGNATURES_H
#define COSY_PASS_SIGNATURES_H

#include "lower/BpfModule.h"

namespace cosy {

/// Makes explicit copies of structures that are passed by value.
void expandByValue(BpfModule &B);
/// Makes the signatures of called functions fit BPF's registers: five for the
/// arguments, one for the result.
void packSignatures(BpfModule &B);

} // namespace cosy

#endif // COSY_PASS_SIGNATURES_H
