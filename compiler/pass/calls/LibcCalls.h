// SPDX-License-Identifier: MIT
//===- LibcCalls.h - What a compound does with a call of libc's -----------===//
#ifndef COSY_PASS_LIBCCALLS_H
#define COSY_PASS_LIBCCALLS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/InstrTypes.h"

namespace cosy {

/// Attribute of calls that a compound leaves for wherever they are.
constexpr char CallOutAttr[] = "cosy-call-out";

/// True for a function of the C library's, or of libcosy's, that a compound
/// makes.
bool isCovered(llvm::StringRef Name);

/// True for a function that may return to another place, or more than once.
bool mayJump(llvm::StringRef LibcName);
/// True if a call's arguments and result are integers and addresses.
bool takesWords(const llvm::CallBase &C);

/// True for a call of libc's that a compound may leave for: of integers and
/// addresses, which returns once or not at all.
bool canCallOut(const llvm::CallBase &C);

/// True for such a call that a region does not end before: libc calls functions
/// of the program's in it, or it lists a directory, and a region goes on after
/// it.
bool isLeftFor(const llvm::CallBase &C);
/// True for a call of a function that is not known here.
bool isByPointer(const llvm::CallBase &C);
/// True for such a call if a compound may leave for it, as above.
bool canCallOutByPointer(const llvm::CallBase &C);

/// True for a call that writes to standard error, or gets a text for it.
bool reportsError(const llvm::CallBase &C);
/// True for a call in the host's code for which a compound would leave, unless
/// it ends the program or reports an error: those are taken as never made.
bool isCostlyCallOut(const llvm::CallBase &C);

} // namespace cosy

#endif // COSY_PASS_LIBCCALLS_H
