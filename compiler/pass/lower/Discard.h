// SPDX-License-Identifier: MIT
//===- Discard.h - Views that end after their last use --------------------===//
#ifndef COSY_PASS_DISCARD_H
#define COSY_PASS_DISCARD_H

#include "lower/Buffers.h"

namespace cosy {

/// Ends views of a local after the last look at it.
void discardAfterUses(BpfModule &B, const Buffer &Buf);

} // namespace cosy

#endif // COSY_PASS_DISCARD_H
