// SPDX-License-Identifier: MIT
//===- Accesses.h - What loads and stores lose in a compound ----*- C++ -*-===//
#ifndef COSY_PASS_ACCESSES_H
#define COSY_PASS_ACCESSES_H

#include "tier/LoopAnalyses.h"
#include "llvm/ADT/DenseMap.h"

namespace cosy {

/// True if a file allocates in the shared buffer.
bool allocatesInBuffer(const llvm::Module &M);

/// Estimates what each load and store loses, and the iterations of a loop.
class Accesses {
  /// What loads and stores lose, as far as findFetches has found them.
  llvm::DenseMap<const llvm::Instruction *, double> Losses;
  llvm::DenseMap<const llvm::Loop *, unsigned> AtOnce; ///< If more than one.

public:
  /// Finds the loads of a function that a compound makes together: in its
  /// loops, or, if it may be called in a loop, everywhere.
  void findFetches(LoopAnalyses &A, bool InLoopsOnly);

  /// Returns what a load or store loses, or what its average iteration does.
  double lossOf(const llvm::Instruction &I) const;
  /// Returns what an iteration of a loop loses beside its instructions.
  double lossOfIteration(const llvm::Loop &L) const;

private:
  void addFetches(llvm::ArrayRef<const llvm::BasicBlock *> Blocks,
                  const llvm::Loop *L, unsigned Count, LoopAnalyses &A);
  void findInInnermost(const llvm::Loop &L, LoopAnalyses &A);
};

} // namespace cosy

#endif // COSY_PASS_ACCESSES_H
