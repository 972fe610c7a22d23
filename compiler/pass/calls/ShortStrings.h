// SPDX-License-Identifier: MIT
//===- ShortStrings.h - Operations that are done in place if short --------===//
#ifndef COSY_PASS_SHORTSTRINGS_H
#define COSY_PASS_SHORTSTRINGS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace cosy {

/// Operations whose bodies in runtime/strings.c take their arguments.
constexpr const char *AsTheyAre[] = {"strlen", "strchr", "strrchr",
                                     "strcpy", "stpcpy", "memchr"};
/// Those whose bodies are told besides how the result is used.
constexpr const char *Comparing[] = {"strcmp", "strncmp", "memcmp"};

/// Whether lower/Strings.cpp does in place what is short of a function on
/// strings.
bool isExpandedInPlace(llvm::StringRef Name);
bool isExpandedInPlace(uint32_t Number);

} // namespace cosy

#endif // COSY_PASS_SHORTSTRINGS_H
