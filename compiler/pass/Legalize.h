// SPDX-License-Identifier: MIT
//===- Legalize.h - What legalisation is made of --------------------------===//
#ifndef COSY_PASS_LEGALIZE_H
#define COSY_PASS_LEGALIZE_H

#include "BpfModule.h"
#include "llvm/IR/IntrinsicInst.h"

namespace cosy {

// Atomics.cpp
/// Handles an atomic access, fence, exchange or update; false when I is none.
bool legalizeAtomic(BpfModule &B, llvm::Instruction *I, Reasons &Why);

// Arithmetic.cpp
/// i128 multiplication from 64-bit ones.
void expandWideMultiply(llvm::BinaryOperator *Op);
/// i128 shifts by a variable count.
void expandWideShift(llvm::BinaryOperator *Op);
/// [us]mul.with.overflow of 64 bits.
void expandMultiplyOverflow(llvm::CallInst *Call, bool Signed);
/// Values of floating-point or vector type that are only moved become integers.
void legalizeFloatMoves(llvm::Function &F);

// Intrinsics.cpp
/// Puts the operation in front of an intrinsic on memory that it stands for.
void createMemoryOperation(BpfModule &B, llvm::MemIntrinsic *Mem);
/// Null when done; else what to refuse ("": name the intrinsic).
const char *legalizeIntrinsic(BpfModule &B, llvm::CallInst *Call);

} // namespace cosy

#endif // COSY_PASS_LEGALIZE_H
