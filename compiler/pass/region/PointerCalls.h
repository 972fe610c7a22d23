// SPDX-License-Identifier: MIT
//===- PointerCalls.h - Calls by pointer become calls by name -------------===//
#ifndef COSY_PASS_POINTERCALLS_H
#define COSY_PASS_POINTERCALLS_H

namespace llvm {
class Function;
} // namespace llvm

namespace cosy {

/// Promotes the calls by pointer in F's regions, and in the functions that
/// these reach.
void promotePointerCalls(llvm::Function &F);

} // namespace cosy

#endif // COSY_PASS_POINTERCALLS_H
