// SPDX-License-Identifier: MIT
//===- Legalize.h - The parts of legalisation -----------------------------===//
#ifndef COSY_PASS_LEGALIZE_H
#define COSY_PASS_LEGALIZE_H

#include "lower/BpfModule.h"
#include "llvm/IR/IntrinsicInst.h"

namespace cosy {

// Atomics.cpp
/// Handles an atomic access, fence, exchange or update; false when I is none.
bool legalizeAtomic(BpfModule &B, llvm::Instruction *I, Reasons &Why);

// Arithmetic.cpp
/// Expands an i128 multiplication into 64-bit ones.
void expandWideMultiply(llvm::BinaryOperator *Op);
/// Expands an i128 shift by a variable count.
void expandWideShift(llvm::BinaryOperator *Op);
/// Expands [us]mul.with.overflow of 64 bits.
void expandMultiplyOverflow(llvm::CallInst *Call, bool Signed);
/// Makes values of floating-point or vector type that are only moved integers.
void legalizeFloatMoves(llvm::Function &F);

// Intrinsics.cpp
/// Calls, before an intrinsic on memory, the operation that stands for it.
void createMemoryOperation(BpfModule &B, llvm::MemIntrinsic *Mem);
/// Returns null when done, else what to refuse; "" to refuse it by its own
/// name.
const char *legalizeIntrinsic(BpfModule &B, llvm::CallInst *Call);

} // namespace cosy

#endif // COSY_PASS_LEGALIZE_H
