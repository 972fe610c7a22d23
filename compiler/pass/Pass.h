// SPDX-License-Identifier: MIT
//===- Pass.h - The pass that compiles marked regions ---------------------===//
#ifndef COSY_PASS_PASS_H
#define COSY_PASS_PASS_H

#include "llvm/IR/PassManager.h"

namespace cosy {

struct CosyPass : llvm::PassInfoMixin<CosyPass> {
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
  /// Runs also at -O0 and for optnone functions, because it removes the
  /// markers.
  static bool isRequired() { return true; }
};

} // namespace cosy

#endif // COSY_PASS_PASS_H
