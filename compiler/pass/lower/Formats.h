// SPDX-License-Identifier: MIT
//===- Formats.h - snprintf as an operation -------------------------------===//
#ifndef COSY_PASS_FORMATS_H
#define COSY_PASS_FORMATS_H

#include "lower/BpfModule.h"

namespace cosy {

/// Replaces such a call; false for any other.
bool lowerFormat(BpfModule &B, llvm::CallBase *C);

} // namespace cosy

#endif // COSY_PASS_FORMATS_H
