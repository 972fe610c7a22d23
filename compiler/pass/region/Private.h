// SPDX-License-Identifier: MIT
//===- Private.h - Locals whose address nobody else can know --------------===//
#ifndef COSY_PASS_PRIVATE_H
#define COSY_PASS_PRIVATE_H

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Value.h"
#include <optional>

namespace cosy {

/// A local, and what may point into it.
using LocalPointers = llvm::SmallSetVector<llvm::Value *, 16>;
/// Finds all pointers into a local; nullopt where others may know its address.
std::optional<LocalPointers> pointersInto(llvm::Value &Local);

} // namespace cosy

#endif // COSY_PASS_PRIVATE_H
