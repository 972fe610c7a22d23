// SPDX-License-Identifier: MIT
//===- CallOuts.h - Calls for which a compound leaves and comes back ------===//
#ifndef COSY_PASS_CALLOUTS_H
#define COSY_PASS_CALLOUTS_H

#include "lower/BpfModule.h"

namespace cosy {

/// True if the compound is to leave for such a call: in a called function,
/// where the region cannot end, in a body of libc's function, or by a pointer.
bool isCallOut(const BpfModule &B, const llvm::CallBase &C);

/// Replaces calls of the program's own variadic functions, in called functions,
/// if they do nothing but report.  Comes before optimisation, which may change
/// their arguments.
void lowerVariadic(BpfModule &B);

/// Replaces a call by the operation call_out.
void lowerCallOut(BpfModule &B, llvm::CallBase *C);

} // namespace cosy

#endif // COSY_PASS_CALLOUTS_H
