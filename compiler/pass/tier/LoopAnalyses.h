// SPDX-License-Identifier: MIT
//===- LoopAnalyses.h - A function's loops and their calls ------*- C++ -*-===//
#ifndef COSY_PASS_LOOPANALYSES_H
#define COSY_PASS_LOOPANALYSES_H

#include "tier/SystemCalls.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include <memory>
#include <optional>

namespace cosy {

/// The analyses of a function and its loops as they are now; stages between
/// which it changes make their own.
struct LoopAnalyses {
  llvm::TargetLibraryInfoImpl Libc;
  llvm::TargetLibraryInfo TLI;
  llvm::AssumptionCache AC;
  llvm::DominatorTree DT;
  llvm::LoopInfo LI;
  llvm::ScalarEvolution SE;
  SystemCalls Calls;

  explicit LoopAnalyses(llvm::Function &F);

  /// True if a block makes a system call each time it runs.
  bool makesCall(const llvm::BasicBlock &BB) {
    return Calls.in(BB) == Makes::Always;
  }
  /// True if a block, or a function that it calls, may make a system call.
  bool mayMakeCall(const llvm::BasicBlock &BB) {
    return Calls.in(BB) != Makes::Never;
  }
  bool mayMakeCall(const llvm::Loop &L);
  /// True if the losses of a loop are counted: it makes no call, no loop around
  /// it is like that, and it has the form that simplifyLoops gives.
  bool countsLosses(const llvm::Loop &L);
  /// Returns the first instruction of a block that always makes a system call,
  /// or null.
  llvm::CallBase *firstCall(llvm::BasicBlock &BB);

  /// Returns how often a block or an edge is taken, in no unit.
  double frequency(const llvm::BasicBlock &BB);
  double frequency(const llvm::BasicBlock &From, const llvm::BasicBlock &To);

private:
  llvm::DenseMap<const llvm::Loop *, bool> CallsOf, Losses;
  std::unique_ptr<llvm::BranchProbabilityInfo> BPI; ///< Null until asked for.
  std::unique_ptr<llvm::BlockFrequencyInfo> BFI;

  bool canCountLosses(const llvm::Loop &L);
  void findFrequencies();
};

/// A value that changes by the same step in each iteration of a loop.
struct LoopCounter {
  llvm::PHINode *Phi; ///< At the loop's head: a pointer or an integer.
  int64_t Step;
};

/// Finds a value that counts the iterations of a loop.
std::optional<LoopCounter> findCounter(const llvm::Loop &L, LoopAnalyses &A);

} // namespace cosy

#endif // COSY_PASS_LOOPANALYSES_H
