// SPDX-License-Identifier: MIT
//===- EarlyReturns.h - Calls that return at once -------------------------===//
#ifndef COSY_PASS_EARLYRETURNS_H
#define COSY_PASS_EARLYRETURNS_H

#include "lower/BpfModule.h"

namespace cosy {

/// Has callers do what a function does before it returns at once.
void inlineEarlyReturns(BpfModule &B);

} // namespace cosy

#endif // COSY_PASS_EARLYRETURNS_H
