// SPDX-License-Identifier: MIT
//===- Iterations.h - How many iterations a small loop does at once -------===//
#ifndef COSY_PASS_ITERATIONS_H
#define COSY_PASS_ITERATIONS_H

namespace llvm {
class Loop;
class ScalarEvolution;
} // namespace llvm

namespace cosy {

/// Instructions of IR that an unrolled loop may have.
constexpr unsigned UnrolledLoopBudget = 128;

/// Returns the instructions of an iteration; 0 if unrolling gains nothing.
unsigned sizeOfIteration(const llvm::Loop &L, llvm::ScalarEvolution &SE);

/// Returns how many iterations a loop should do at once in a compound, with so
/// many instructions at most; below 2: leave it.
unsigned iterationsAtOnce(const llvm::Loop &L, llvm::ScalarEvolution &SE,
                          unsigned Budget = UnrolledLoopBudget);

} // namespace cosy

#endif // COSY_PASS_ITERATIONS_H
