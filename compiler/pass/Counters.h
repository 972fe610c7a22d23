// SPDX-License-Identifier: MIT
//===- Counters.h - A loop's counter where the loop ends --------*- C++ -*-===//
#ifndef COSY_PASS_COUNTERS_H
#define COSY_PASS_COUNTERS_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

/// Makes a copy of a loop's counter, of an integer type, for code after the
/// loop.  Nobody sees that it is a copy, so LSR keeps no register for what is
/// computed with it.
llvm::Value *copyCounter(llvm::IRBuilder<> &B, llvm::Value *Counter);

/// Has each such copy take the value that costs the loop nothing.
struct CountersPass : llvm::PassInfoMixin<CountersPass> {
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &FAM);
  static bool isRequired() { return true; }
};

} // namespace cosy

#endif // COSY_PASS_COUNTERS_H
