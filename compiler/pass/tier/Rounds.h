// SPDX-License-Identifier: MIT
//===- Rounds.h - How often loops iterate and blocks run --------*- C++ -*-===//
#ifndef COSY_PASS_ROUNDS_H
#define COSY_PASS_ROUNDS_H

#include "tier/Recursion.h"
#include "tier/Skips.h"
#include "llvm/ADT/DenseMap.h"
#include <cstdint>

namespace cosy {

/// Rounds that a loop is assumed to go if it may make calls.
constexpr int64_t AssumedRounds = 64;

/// Rounds that another loop is assumed to go at most: the bytes of a page.
constexpr int64_t MaxRounds = 4096;

/// Knows how often a function's loops iterate, and its blocks run.
class Rounds : public CountedLoops {
  llvm::DenseMap<const llvm::Loop *, int64_t> Known;
  const Recursion &In;

public:
  Rounds(llvm::Function &F, const Recursion &In) : CountedLoops(F), In(In) {}

  /// False for a function of which no copy counts what its loops lose.
  bool CountLosses = true;

  /// True if a loop's rounds can be counted as they go, at its head or at its
  /// calls.  Code in no such loop belongs to the function's entry.
  bool areCounted(const llvm::Loop &L);
  /// Returns how often a block runs in a round of Around, or in a call of the
  /// function, if each loop between goes one round.
  double often(const llvm::BasicBlock &BB, const llvm::Loop *Around);
  /// Returns how many rounds a loop is taken for, if they are not counted: the
  /// number that is known, or the most for which the objects that it goes
  /// through have room.
  int64_t of(const llvm::Loop &L);
  /// Returns how many rounds a loop is assumed to go that may make calls.
  int64_t assumed(const llvm::Loop &L);
  /// True if the number that of() returns is known.
  bool areKnown(const llvm::Loop &L) {
    return SE.getSmallConstantTripCount(&L) != 0;
  }

private:
  double recursions(const llvm::Loop &L);
  double rounds(const llvm::Loop &L);
  double entries(const llvm::Loop &L);
  int64_t within(const llvm::Instruction &I, const llvm::Loop &L);
};

} // namespace cosy

#endif // COSY_PASS_ROUNDS_H
