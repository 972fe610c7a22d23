// SPDX-License-Identifier: MIT
//===- SystemCalls.h - Which code makes system calls ----------------------===//
#ifndef COSY_PASS_SYSTEMCALLS_H
#define COSY_PASS_SYSTEMCALLS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/Instruction.h"

namespace llvm {
class Function;
} // namespace llvm

namespace cosy {

/// Whether every run of the code makes a system call.
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

/// True for a function of libc's that only computes, in a compound.
bool isComputed(llvm::StringRef Name);

} // namespace cosy

#endif // COSY_PASS_SYSTEMCALLS_H
