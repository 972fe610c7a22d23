// SPDX-License-Identifier: MIT
//===- Names.h - Symbols as a person reads them ---------------------------===//
#ifndef COSY_PASS_NAMES_H
#define COSY_PASS_NAMES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Demangle/Demangle.h"
#include <string>

namespace cosy {

/// Returns the name of a function for messages: C++'s as it is in the source.
inline std::string shownName(llvm::StringRef Symbol) {
  return llvm::demangle(Symbol.str());
}

} // namespace cosy

#endif // COSY_PASS_NAMES_H
