// SPDX-License-Identifier: MIT
//===- Arithmetic.h - Arithmetic that BPF lacks ---------------------------===//
#ifndef COSY_PASS_ARITHMETIC_H
#define COSY_PASS_ARITHMETIC_H

#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

namespace cosy {

/// Expands an i128 multiplication into 64-bit ones.
void expandWideMultiply(llvm::BinaryOperator *Op);
/// Expands an i128 shift by a variable count.
void expandWideShift(llvm::BinaryOperator *Op);
/// Expands [us]mul.with.overflow of 64 bits.
void expandMultiplyOverflow(llvm::CallInst *Call, bool Signed);
/// Makes values of floating-point or vector type that are only moved integers.
void legalizeFloatMoves(llvm::Function &F);

} // namespace cosy

#endif // COSY_PASS_ARITHMETIC_H
