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

/// Knows what no compound can hold, so that a region ends before it: calls of
/// functions that no system call and no operation stands for, as perror and
/// printf, calls of the program's that make such calls, and floating-point
/// arithmetic.
class Natives {
  /// What is known of a function with a body.
  struct Facts {
    bool Has = false;   ///< It makes such a call.
    bool Calls = false; ///< It makes a system call that a compound can hold.
    bool Loops = false; ///< It, or one that it calls, has a loop.
    bool Avoids = true; ///< It returns without such a call on some way.
    bool Recurses = false;
    bool HasOther = false; ///< It does more that is native than such calls
                           ///< for which a compound can leave.
  };
  llvm::DenseMap<const llvm::Function *, Facts> Known;

public:
  /// True for such a call, or such arithmetic.
  bool has(const llvm::Instruction &I);

  /// True for a function of the program's that makes such calls, but is of use
  /// to a compound as well: by its system calls, or, where it has no loop, on a
  /// way without them.
  bool isMixed(const llvm::Function &F);

private:
  const Facts &factsOf(const llvm::Function &F);
  bool avoids(const llvm::Function &F);
  bool isOther(const llvm::Instruction &I);
};

/// Inlines into a function's regions what these call and must be the host's in
/// part only.  Hosts: functions that are not inlined, for their own regions.
void inlineMixed(llvm::Function &F, llvm::ArrayRef<llvm::Function *> Hosts,
                 llvm::FunctionAnalysisManager &FAM);

} // namespace cosy

#endif // COSY_PASS_NATIVES_H
