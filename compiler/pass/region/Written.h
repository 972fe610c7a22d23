// SPDX-License-Identifier: MIT
//===- Written.h - Divisions that are made as they are written ------------===//
#ifndef COSY_PASS_WRITTEN_H
#define COSY_PASS_WRITTEN_H

#include "llvm/IR/Instruction.h"
#include "llvm/IR/PassManager.h"

namespace cosy {

/// Attribute of functions that the host does not optimise.
constexpr char AsWrittenAttr[] = "cosy-as-written";
/// True if F's divisions are made natively as they stand in the source.
bool isAsWritten(const llvm::Function &F);
/// True for the widths that the processor divides; it divides up to 64 bits in
/// the next wider one, and more by a function.
bool isDividedAsIs(const llvm::Type *Ty);
/// Inlines what always is, and drops what instruction selection leaves out
/// where nothing is optimised.
void dropUnselected(llvm::Function &F);
/// Does so, and keeps the divisions of F that may trap: also those whose
/// operands are known, or whose results are not used.
void pinDivisions(llvm::Function &F);
void unpinDivisions(llvm::Function &F);
/// True for assembly that pins a division.
bool isPinned(const llvm::Instruction &I);

/// Marks all functions as compiled the way they are written: comes before
/// CosyPass at -O0.
struct WrittenPass : llvm::PassInfoMixin<WrittenPass> {
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
  static bool isRequired() { return true; }
};

} // namespace cosy

#endif // COSY_PASS_WRITTEN_H
