// SPDX-License-Identifier: MIT
//===- Operations.h - Calls by number, and what is said of them -----------===//
#ifndef COSY_PASS_OPERATIONS_H
#define COSY_PASS_OPERATIONS_H

#include "lower/BpfModule.h"
#include "lower/Compound.h"

namespace cosy {

/// True if this assembly is a system call with six arguments.
bool isSixCall(const llvm::InlineAsm &Asm);
/// Makes `call Number` with six arguments: the sixth is in r0, where no calling
/// convention puts it.
llvm::Value *createSixCall(llvm::IRBuilder<> &B, uint32_t Number,
                           llvm::ArrayRef<llvm::Value *> Args);
/// True for a letter of core/ops.def that stands for an address.
bool isPointerLetter(char Letter);
/// Marks a call of an operation on memory with what LLVM may rely on.
void describeOperation(llvm::CallInst *Call, const char *Letters,
                       bool MayReturnArgument);
/// Has the code before C turn r0 into what libc returns: for -4095..-1 it sets
/// errno, and the value is -1.
llvm::Value *createErrnoTest(BpfModule &B, llvm::CallBase *C,
                             llvm::Value *Result);

/// Adds a function, by its name, to those that the compound replaces.
void noteFunction(Compound &C, llvm::StringRef Name, llvm::GlobalValue *Host);
/// Adds a function to those that the compound replaces by system calls.
void noteReplaced(const BpfModule &B, Compound &C, const llvm::Function &F);

} // namespace cosy

#endif // COSY_PASS_OPERATIONS_H
