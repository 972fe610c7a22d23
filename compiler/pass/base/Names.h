// SPDX-License-Identifier: MIT
//===- Names.h - Names of functions in messages ---------------------------===//
#ifndef COSY_PASS_NAMES_H
#define COSY_PASS_NAMES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Demangle/Demangle.h"
#include <string>

namespace cosy {

/// Returns a function's name for messages; demangles a C++ name.
inline std::string shownName(llvm::StringRef Symbol) {
  return llvm::demangle(Symbol.str());
}

} // namespace cosy

#endif // COSY_PASS_NAMES_H
