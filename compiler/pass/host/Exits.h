// SPDX-License-Identifier: MIT
//===- Exits.h - Early exits of a native twin -----------------------------===//
#ifndef COSY_PASS_EXITS_H
#define COSY_PASS_EXITS_H

#include "llvm/IR/PassManager.h"

namespace cosy {
/// Runs right after regions have got their twins, before LLVM's optimisations.
struct ExitsPass : llvm::PassInfoMixin<ExitsPass> {
  llvm::PreservedAnalyses run(llvm::Function &,
                              llvm::FunctionAnalysisManager &);
};
} // namespace cosy

#endif
