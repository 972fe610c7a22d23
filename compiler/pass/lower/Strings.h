// SPDX-License-Identifier: MIT
//===- Strings.h - Operations on short strings, in place ------------------===//
#ifndef COSY_PASS_STRINGS_H
#define COSY_PASS_STRINGS_H

#include "lower/BpfModule.h"
#include "lower/Compound.h"
#include "region/Extracted.h"

namespace cosy {

/// Expands operations on short strings and little memory in place.
void expandStrings(BpfModule &B, const Extracted &R, const Compound &C);

} // namespace cosy

#endif // COSY_PASS_STRINGS_H
