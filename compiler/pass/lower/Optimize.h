// SPDX-License-Identifier: MIT
//===- Optimize.h - clang's pipeline for a compound -----------------------===//
#ifndef COSY_PASS_OPTIMIZE_H
#define COSY_PASS_OPTIMIZE_H

#include "lower/BpfModule.h"

namespace cosy {

/// Runs clang's -O2 without what only hurts here.
void optimize(BpfModule &B);
/// Runs passes as the stages do: with few library functions, and BPF's costs.
void runPasses(BpfModule &B, llvm::ModulePassManager &Passes);
/// Cleans up, after assignStorage, what its loads left.
void cleanUp(BpfModule &B);

} // namespace cosy

#endif // COSY_PASS_OPTIMIZE_H
