// SPDX-License-Identifier: MIT
//===- Reason.h - Why a region stays native -------------------------------===//
#ifndef COSY_PASS_REASON_H
#define COSY_PASS_REASON_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DebugLoc.h"
#include <string>

namespace cosy {

/// Why a region stays native, and the position that is to blame.
struct Reason {
  std::string Text;
  llvm::DebugLoc Where;
};
using Reasons = llvm::SmallVector<Reason, 4>;

} // namespace cosy

#endif // COSY_PASS_REASON_H
