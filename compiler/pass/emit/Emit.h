// SPDX-License-Identifier: MIT
//===- Emit.h - Instructions, relocations, lines --------------------------===//
#ifndef COSY_PASS_EMIT_H
#define COSY_PASS_EMIT_H

#include "base/Reason.h"
#include "lower/BpfModule.h"
#include "lower/Compound.h"

namespace cosy {

/// Generates code.  False with Why filled in.
bool emitCode(BpfModule &B, Compound &C, Reasons &Why);

} // namespace cosy

#endif // COSY_PASS_EMIT_H
