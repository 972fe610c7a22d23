// SPDX-License-Identifier: MIT
//===- Outline.h - Cold ways into the kernel, out of line -----------------===//
#ifndef COSY_PASS_OUTLINE_H
#define COSY_PASS_OUTLINE_H

#include "llvm/IR/PassManager.h"

namespace cosy {
/// Runs after LLVM's optimisations, which know best with all in one function.
struct OutlinePass : llvm::PassInfoMixin<OutlinePass> {
  llvm::PreservedAnalyses run(llvm::Module &, llvm::ModuleAnalysisManager &);
};
} // namespace cosy

#endif
