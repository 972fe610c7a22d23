// SPDX-License-Identifier: MIT
//===- Inline.h - Which functions are inlined, which called ---------------===//
#ifndef COSY_PASS_INLINE_H
#define COSY_PASS_INLINE_H

#include "lower/BpfModule.h"

namespace cosy {

/// Decides which functions are inlined: all but recursive ones, within Budget
/// instructions.
void planCalls(BpfModule &B, unsigned Budget);

} // namespace cosy

#endif // COSY_PASS_INLINE_H
