// SPDX-License-Identifier: MIT
//===- ShortStrings.h - Operations that are done in place if short --------===//
#ifndef COSY_PASS_SHORTSTRINGS_H
#define COSY_PASS_SHORTSTRINGS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace cosy {

/// Operations whose bodies in runtime/strings.c take the same arguments.
constexpr const char *AsTheyAre[] = {"strlen", "strchr", "strrchr",
                                     "strcpy", "stpcpy", "memchr"};
/// Operations whose bodies take one more argument: how the result is used.
constexpr const char *Comparing[] = {"strcmp", "strncmp", "memcmp"};

/// True if lower/Strings.cpp puts a body in the operation's place, which serves
/// short strings.
bool isExpandedInPlace(llvm::StringRef Name);
bool isExpandedInPlace(uint32_t Number);

} // namespace cosy

#endif // COSY_PASS_SHORTSTRINGS_H
