// SPDX-License-Identifier: MIT
//===- Runtime.h - Bodies for libc functions that are no call -------------===//
#ifndef COSY_PASS_RUNTIME_H
#define COSY_PASS_RUNTIME_H

#include "lower/BpfModule.h"
#include "lower/Compound.h"

namespace cosy {

/// Links the embedded bodies of libc functions that B calls.
void linkRuntime(BpfModule &B, Compound &C);

/// Links the functions of an embedded module that B calls.
void linkNeeded(BpfModule &B, std::unique_ptr<llvm::Module> Embedded);

} // namespace cosy

#endif // COSY_PASS_RUNTIME_H
