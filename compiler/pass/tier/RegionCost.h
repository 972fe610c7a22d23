// SPDX-License-Identifier: MIT
//===- RegionCost.h - What a region is expected to save -------------------===//
#ifndef COSY_PASS_REGIONCOST_H
#define COSY_PASS_REGIONCOST_H

#include "lib/region/region.h"
#include "llvm/ADT/SmallVector.h"
#include <costs.h>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace llvm {
class BasicBlock;
} // namespace llvm

namespace cosy {

/// A number of instructions that running in the kernel saves, on average.
struct Gain {
  double Saved = 0;   ///< Negative: lost.
  double Plain = 0;   ///< At least so many run natively for the same.
  double Calls = 0;   ///< Of Saved, what system calls save; nothing is lost.
  double Number = 0;  ///< Of such calls.
  double Guessed = 0; ///< Of what is lost: in assumed iterations.
  double Best = 0;    ///< Saved where each conditional path is taken.
};

/// The native twin counts system calls in parts, since a call of a function may
/// make one in some cases.
constexpr int64_t CallParts = COSY_CALL_PARTS;

/// The expected gain of a region, in instructions.  Counted loops are those
/// whose iterations are counted as they run: see waysIn.
struct RegionCost {
  int64_t Entry = 0; ///< Saved per entry, counted loops apart.
  llvm::SmallVector<int64_t, 4> Rounds; ///< Saved per iteration of each.
  llvm::SmallVector<int64_t, 4> Skips;  ///< The same without a call.
  /// Entry and Rounds without the calls that are counted where they are made.
  int64_t SureEntry = 0;
  llvm::SmallVector<int64_t, 4> SureRounds;
  /// The system calls that these make, in parts: see CallParts.
  int64_t EntryCalls = 0;
  llvm::SmallVector<int64_t, 4> RoundCalls;
  Gain All; ///< Of an entry, with as many iterations as are assumed.
  /// Saved per call of each of Recursion::Entered, counted loops apart.
  llvm::SmallVector<int64_t, 2> Calls;
  /// Lost by an iteration of each counted loop with a way in at a call, outside
  /// of inner loops and that call; 0 for one with a way in at the head.
  llvm::SmallVector<int64_t, 4> Around;
  /// The heads of loops with LoopCounts::AddsUp and ways in inside, and what an
  /// iteration of each loses outside of inner loops.
  llvm::SmallVector<std::pair<llvm::BasicBlock *, int64_t>, 2> Outer;
  unsigned Share = 1; ///< See struct cosy_region.
  unsigned Lost = 0;  ///< Per system call, by the code around the calls.
  /// How many times as much the loops whose losses are counted lose where there
  /// are no fetches.
  unsigned Unfetched = 1;
  bool Loses = false; ///< No entry, iteration or call saves.
};

/// Returns what it costs to load a program.
inline uint64_t loadCost(size_t Instructions) {
  return COSY_COST_LOAD + uint64_t(COSY_COST_LOAD_INSN) * Instructions;
}

} // namespace cosy

#endif // COSY_PASS_REGIONCOST_H
