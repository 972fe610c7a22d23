// SPDX-License-Identifier: MIT
//===- Recursion.h - Functions of a region that recurse -------------------===//
#ifndef COSY_PASS_RECURSION_H
#define COSY_PASS_RECURSION_H

#include "region/Extracted.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace cosy {

/// The functions of a region that recurse, and those that its twin copies.
struct Recursion {
  /// Functions that recurse, and that the region itself calls.
  llvm::SmallVector<llvm::Function *, 2> Entered;
  /// These and the functions that they call.  Each of Entered comes before the
  /// functions that only it calls.
  llvm::SmallVector<llvm::Function *, 8> Copied;
  /// Of Copied, those that may call one of Entered, directly or not.
  llvm::SmallVector<llvm::Function *, 8> Recursing;
};

/// Finds the functions that a region's body calls and that recurse, except
/// Hosts.
Recursion findRecursion(const Extracted &R,
                        llvm::ArrayRef<llvm::Function *> Hosts);

} // namespace cosy

#endif // COSY_PASS_RECURSION_H
