// SPDX-License-Identifier: MIT
//===- Compound.h - What a region is compiled to --------------------------===//
#ifndef COSY_PASS_COMPOUND_H
#define COSY_PASS_COMPOUND_H

#include "tier/RegionCost.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DebugLoc.h"
#include "llvm/IR/GlobalVariable.h"
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cosy {

/// A call that does not return (abort, exit, __assert_fail).  The compound
/// ends, and the host makes the call with the arguments that the compound left
/// in the context.
struct Escape {
  llvm::GlobalValue *Callee = nullptr; ///< In the host module.
  llvm::FunctionType *Type = nullptr;
  llvm::AttributeList Attributes;
  llvm::SmallVector<llvm::Type *, 4> ArgTypes;
  llvm::SmallVector<unsigned, 4> ArgOffsets; ///< In the context.
};

/// The exit selector of escape number I is FirstEscape + I; smaller ones are
/// CodeExtractor's.
constexpr uint64_t FirstEscape = 0x10000;

/// A source line and its first instruction.
struct LineEntry {
  uint32_t Insn, File, Line, Column;
};

/// A libc function that a compound replaces by its system call.
struct Replaced {
  std::string Name;
  /// The function as the native twin calls it; null: only libcosy calls it.
  llvm::GlobalValue *Host;
};

/// The result of compiling a region.
struct Compound {
  std::vector<uint8_t> Code; ///< struct bpf_insn[]
  std::vector<LineEntry> Lines;
  std::vector<std::string> Files;
  std::string Name; ///< "file.c:12 function"
  unsigned ContextSize = 0;
  llvm::SmallVector<unsigned, 8> InputOffsets, OutputOffsets;
  /// Host addresses that go into the context at each entry.
  std::vector<std::pair<llvm::GlobalValue *, unsigned>> Addresses;
  /// libc functions that return an address of the thread's (__ctype_b_loc),
  /// called at each entry.
  std::vector<std::pair<std::string, unsigned>> Locators;
  /// A constant table of the host, which is copied into the context at each
  /// entry.  Size 0: libcosy keeps a copy, whose address goes there.
  struct TableCopy {
    llvm::GlobalVariable *Table;
    unsigned Offset, Size;
  };
  std::vector<TableCopy> Tables;
  std::vector<Escape> Escapes;
  std::vector<Replaced> Functions;
  /// True if clean-ups or handlers for exceptions are around some call.
  bool HasHandlers = false;
  /// A remark: an operation was chosen for a call, or why none was.
  struct Choice {
    bool Chosen;
    std::string Text;
    llvm::DebugLoc Where;
  };
  std::vector<Choice> Choices;
  /// Loops that take eight bytes at once.
  std::vector<llvm::DebugLoc> Widened;
  unsigned NumFunctions = 0, NumCalls = 0;
  /// Instructions saved by an arrival, and by one at a loop's head after an
  /// iteration without a call.  Cost has the same for all of a region.
  int64_t Saves = 0, Skips = 0;
  int64_t Calls = 0; ///< Made by an arrival: see CallParts.
  RegionCost Cost;
  unsigned NumLoops = 0;
  bool BeginsAgain = false;               ///< See Region.
  llvm::GlobalVariable *Region = nullptr; ///< struct cosy_region, when made.
};

/// Offset of the address of errno in every context.
constexpr unsigned ErrnoOffset = 0;

} // namespace cosy

#endif // COSY_PASS_COMPOUND_H
