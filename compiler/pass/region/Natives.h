// SPDX-License-Identifier: MIT
//===- Natives.h - Which calls no compound can hold -----------------------===//
#ifndef COSY_PASS_NATIVES_H
#define COSY_PASS_NATIVES_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Function;
class Instruction;
} // namespace llvm

namespace cosy {

/// Finds native calls, which no compound can hold, so that a region ends before
/// them: calls of functions that no system call or operation replaces, for
/// example perror and printf; calls of the program's functions that make such
/// calls; and floating-point arithmetic.
class Natives {
  /// What is known about a function with a body.
  struct Facts {
    bool Has = false;   ///< It makes a native call.
    bool Calls = false; ///< It makes a system call that a compound can hold.
    bool Loops = false; ///< It, or one that it calls, has a loop.
    bool Avoids = true; ///< It returns without a native call on some path.
    bool Recurses = false;
    bool HasOther = false; ///< It makes native calls for which a compound
                           ///< cannot leave and come back.
  };
  llvm::DenseMap<const llvm::Function *, Facts> Known;

public:
  /// True for a native call.
  bool has(const llvm::Instruction &I);

  /// True for a function of the program that makes native calls, but from which
  /// a compound gains as well: it makes system calls, or it has no loop and a
  /// path without native calls.
  bool isMixed(const llvm::Function &F);

private:
  const Facts &factsOf(const llvm::Function &F);
  bool avoids(const llvm::Function &F);
  bool isOther(const llvm::Instruction &I);
};

/// Inlines mixed functions into a function's regions, so that the regions end
/// inside of them.  Hosts: functions that hold regions, which are not inlined.
void inlineMixed(llvm::Function &F, llvm::ArrayRef<llvm::Function *> Hosts,
                 llvm::FunctionAnalysisManager &FAM);

} // namespace cosy

#endif // COSY_PASS_NATIVES_H
