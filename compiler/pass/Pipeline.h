// SPDX-License-Identifier: MIT
//===- Pipeline.h - The stages of a compound, in their order --------------===//
#ifndef COSY_PASS_PIPELINE_H
#define COSY_PASS_PIPELINE_H

#include "base/Reason.h"
#include "lower/BpfModule.h"
#include "lower/Compound.h"
#include "region/Extracted.h"
#include "llvm/ADT/ArrayRef.h"

namespace cosy {

/// A region on its way to a compound: all that a stage reads and changes.
struct Compilation {
  BpfModule &B;
  const Extracted &R;
  Compound &C;
  Reasons &Why;          ///< A stage that adds a reason is the last one.
  unsigned InlineBudget; ///< Instructions that planCalls may inline.
};

/// A stage on a region's module.
struct Stage {
  enum class Condition {
    Always,
    Fast,        ///< Operations are chosen for calls (-fcosy-fast).
    Growing,     ///< The code may get larger: not in later tries.
    AfterChange, ///< The stage before it ran, and changed something.
  };

  const char *Name; ///< Its name as a pass of opt's.
  Condition When;
  /// Returns true if it changed what a stage AfterChange waits for.
  bool (*Run)(Compilation &);
  const char *Dump = nullptr; ///< The name under which -cosy-dump writes it.
};

/// Returns the stages in their order.  A stage may stand there several times.
llvm::ArrayRef<Stage> compoundStages();

} // namespace cosy

#endif // COSY_PASS_PIPELINE_H
