// SPDX-License-Identifier: MIT
//===- Samples.h - Loops of which one entry in some counts ------*- C++ -*-===//
#ifndef COSY_PASS_SAMPLES_H
#define COSY_PASS_SAMPLES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"

namespace cosy {

/// One entry in so many runs the copy of the loop that counts.  The number is
/// prime, so that patterns of a program that alternate do not bias the sample.
constexpr int SamplePeriod = 31;

/// The heads of loops that sampleLoops copied, and of the copies.
struct SampledLoops {
  llvm::SmallPtrSet<const llvm::BasicBlock *, 8> Plain, Counting;
};

/// Makes a counting copy of each loop whose losses are to be counted.  Counts
/// is asked for code, at a place, that tells whether anybody still counts.
SampledLoops sampleLoops(
    llvm::Function &Twin,
    llvm::function_ref<llvm::Value *(llvm::BasicBlock::iterator)> Counts);

} // namespace cosy

#endif // COSY_PASS_SAMPLES_H
