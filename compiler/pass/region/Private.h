// SPDX-License-Identifier: MIT
//===- Private.h - Locals whose address nobody else can know --------------===//
#ifndef COSY_PASS_PRIVATE_H
#define COSY_PASS_PRIVATE_H

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Value.h"
#include <optional>

namespace cosy {

/// A local, and what may point into it.
using LocalPointers = llvm::SmallSetVector<llvm::Value *, 16>;
/// Finds all pointers into a local; nullopt where others may know its address.
std::optional<LocalPointers> pointersInto(llvm::Value &Local);

/// What a call does with an address that it is given.
enum class AddressUse {
  Passing,  ///< It keeps no address in the object, and returns none.
  Returned, ///< The same, but it returns an address in the object, or null.
  Unknown   ///< Others may know the address from then on.
};
/// Returns what a call of libc's does with the address that is its argument
/// Arg; Unknown for other calls.
AddressUse useOfArgument(const llvm::CallBase &Call, unsigned Arg);

} // namespace cosy

#endif // COSY_PASS_PRIVATE_H
