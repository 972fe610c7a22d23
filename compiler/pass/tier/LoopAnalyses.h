// SPDX-License-Identifier: MIT
//===- LoopAnalyses.h - A function's loops and their calls ------*- C++ -*-===//
#ifndef COSY_PASS_LOOPANALYSES_H
#define COSY_PASS_LOOPANALYSES_H

#include "region/Region.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
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

/// How often code makes a system call when it runs.
enum class Makes { Never, Sometimes, Always };

/// Looks for system calls, also in the functions that are called.  Keeps what
/// it found, so no function may change meanwhile.
class SystemCalls {
  /// Sometimes for a function that is being looked at, so that recursion ends.
  llvm::DenseMap<const llvm::Function *, Makes> Functions;
  llvm::DenseMap<const llvm::BasicBlock *, Makes> Blocks;
  llvm::SmallPtrSet<const llvm::Function *, 8> Active; ///< These functions.
  bool Recursive = false; ///< One of them was met again.

public:
  Makes in(const llvm::Instruction &I);
  Makes in(const llvm::BasicBlock &BB);

private:
  Makes in(const llvm::Function &F);
  Makes search(const llvm::Function &F);
  Makes search(const llvm::BasicBlock &BB);
  bool returnsWithoutCall(const llvm::Function &F);
};

/// How the iterations of a loop are counted natively: see Skips.cpp.
struct LoopCounts {
  /// At the head: the blocks of iterations without a call.
  std::optional<llvm::SmallVector<const llvm::BasicBlock *, 8>> Skipped;
  llvm::CallBase *Call = nullptr; ///< At this call and others.
  bool AddsUp = false;            ///< Where inner loops begin.
};

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
  /// Returns how a loop is counted.
  const LoopCounts &counts(const llvm::Loop &L);
  /// Returns the first instruction of a block that always makes a system call,
  /// or null.
  llvm::CallBase *firstCall(llvm::BasicBlock &BB);

  /// Returns how often a block or an edge is taken, in no unit.
  double frequency(const llvm::BasicBlock &BB);
  double frequency(const llvm::BasicBlock &From, const llvm::BasicBlock &To);

private:
  llvm::DenseMap<const llvm::Loop *, bool> CallsOf, Losses;
  llvm::DenseMap<const llvm::Loop *, std::unique_ptr<LoopCounts>> Counts;
  std::unique_ptr<llvm::BranchProbabilityInfo> BPI; ///< Null until asked for.
  std::unique_ptr<llvm::BlockFrequencyInfo> BFI;

  void findFrequencies();
};

/// A value that changes by the same step in each iteration of a loop.
struct LoopCounter {
  llvm::PHINode *Phi; ///< At the loop's head: a pointer or an integer.
  int64_t Step;
};

// Loops.cpp
/// Has calls of a function stand for those of its copy.
void mapSeldom(llvm::MutableArrayRef<SeldomCall> Calls,
               llvm::ValueToValueMapTy &Map);

// PendingLosses.cpp
/// Finds a value that counts the iterations of a loop.
std::optional<LoopCounter> findCounter(const llvm::Loop &L, LoopAnalyses &A);

/// Has a region's twin keep what iterations of loops lose until it is counted.
class PendingLosses {
  Extracted &R;
  llvm::ValueToValueMapTy &Map; ///< From the region's body, which stays.
  LoopAnalyses A;               ///< Of the body.

public:
  PendingLosses(Extracted &R, llvm::ValueToValueMapTy &Map);

  /// Does so for the loop around a way in of the body at a call: the loop's
  /// calls in R.Seldom count what was lost before them.  Returns the local with
  /// what was lost before the way in's own call, which code at the end of the
  /// way in's block is to count and clear.
  llvm::AllocaInst *keepAtCalls(llvm::BasicBlock &WayIn, int64_t Loss);
  /// Does so for the loop with this head: the beginnings of inner loops count.
  void keepAtInnerLoops(llvm::BasicBlock &Head, int64_t Loss);

private:
  std::optional<LoopCounter> counterInTwin(const llvm::Loop &L);
};

} // namespace cosy

#endif // COSY_PASS_LOOPANALYSES_H
