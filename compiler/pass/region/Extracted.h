// SPDX-License-Identifier: MIT
//===- Extracted.h - A region that has become a function ------------------===//
#ifndef COSY_PASS_EXTRACTED_H
#define COSY_PASS_EXTRACTED_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DebugLoc.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include <memory>
#include <optional>

namespace cosy {

/// Marks the parameters of a region's function that its results are stored by.
constexpr char ResultAttr[] = "cosy-result";

/// The head of a loop that counts its iterations there, but has no way into the
/// kernel: a loop of a function that Recursion.cpp copied.
struct CountedHead {
  llvm::BasicBlock *Head;
  llvm::Value *Made;    ///< See Extracted::Made.
  int64_t Saves, Skips; ///< Saved by an iteration, and by one without a call.
  int64_t Calls;        ///< Made by an iteration, in parts: see CallParts.
};

/// A system call that not every entry of a region makes, or not every iteration
/// of a counted loop: what it saves is counted where it is made.
struct SeldomCall {
  /// Or what follows a composite, or an exit of a loop that is counted at
  /// calls.
  llvm::Instruction *Call;
  int64_t Saves;
  llvm::AllocaInst *Lost = nullptr; ///< See Extracted::Lost.
  /// After a composite: its result, each of which saves PerResult more.
  llvm::Value *Result = nullptr;
  unsigned PerResult = 0;
  int64_t Calls = 0; ///< See CountedHead.
};

/// A region that has become a function, called in its old place.
struct Extracted {
  llvm::Function *Host = nullptr; ///< The function that held the region.
  /// Takes the inputs, then a pointer per output.
  llvm::Function *Body = nullptr;
  llvm::CallInst *Call = nullptr; ///< The only call of Body.
  unsigned NumInputs = 0;
  llvm::SmallVector<llvm::Type *, 8> Outputs;
  unsigned Line = 0;
  llvm::DebugLoc Where;     ///< Of COSY_START.
  bool BeginsAgain = false; ///< See Region.
  /// The native twin: Body, or a copy of it that can go into the kernel in the
  /// middle.
  llvm::Function *Twin = nullptr;
  llvm::SmallVector<SeldomCall, 4> Seldom; ///< In the native twin.

  /// At a loop's head: the region whose twin is Host.
  std::shared_ptr<Extracted> Outer;
  /// At a loop's head, the loop's next native iteration; at the entry of a
  /// function that recurses, its native code.
  llvm::BasicBlock *Round = nullptr;
  /// At a loop's head: whether the previous iteration made a call; null if
  /// every iteration does.
  llvm::Value *Made = nullptr;

  /// At a call in a loop: what the iterations since the last call would have
  /// lost in the kernel; null at a loop's head.
  llvm::AllocaInst *Lost = nullptr;

  /// At the entry of a function that recurses, of which Host is a copy: what a
  /// call of it saves, the iterations of counted loops apart.
  std::optional<int64_t> Arrival;
  /// With Arrival: the system calls that such a call makes, see CallParts.
  int64_t ArrivalCalls = 0;
  /// With Arrival: the counted loops of Copies.
  llvm::SmallVector<CountedHead, 4> Counted;
  /// With Arrival: Host, and the copies of functions that it calls.
  llvm::SmallVector<llvm::Function *, 4> Copies;
};

} // namespace cosy

#endif // COSY_PASS_EXTRACTED_H
