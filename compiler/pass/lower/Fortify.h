// SPDX-License-Identifier: MIT
//===- Fortify.h - The checks of _FORTIFY_SOURCE --------------------------===//
#ifndef COSY_PASS_FORTIFY_H
#define COSY_PASS_FORTIFY_H

#include "lower/BpfModule.h"

namespace cosy {

/// Has the program end as _FORTIFY_SOURCE ends it before C if the condition
/// holds.
void failCheckIf(BpfModule &B, llvm::Value *Condition, llvm::CallBase *C);
/// Replaces a call of a function of _FORTIFY_SOURCE by its check and the plain
/// call, which it returns; any other call is returned as it is.
llvm::CallBase *expandFortified(BpfModule &B, llvm::CallBase *C);

} // namespace cosy

#endif // COSY_PASS_FORTIFY_H
