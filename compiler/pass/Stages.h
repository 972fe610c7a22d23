// SPDX-License-Identifier: MIT
//===- Stages.h - The stages of the pass as passes of their own -----------===//
#ifndef COSY_PASS_STAGES_H
#define COSY_PASS_STAGES_H

#include "llvm/IR/PassManager.h"

namespace cosy {

/// Adds the stage of that name as a pass (Stages.cpp lists them).  Returns
/// false if there is none.
bool addStage(llvm::StringRef Name, llvm::ModulePassManager &MPM);

} // namespace cosy

#endif // COSY_PASS_STAGES_H
