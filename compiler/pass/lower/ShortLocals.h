// SPDX-License-Identifier: MIT
//===- ShortLocals.h - Locals that end before a recursive call -----------===//
#ifndef COSY_PASS_SHORTLOCALS_H
#define COSY_PASS_SHORTLOCALS_H

#include "lower/BpfModule.h"

namespace cosy {

/// Metadata of locals of which one object serves all of a function's frames.
constexpr char ShortLocalName[] = "cosy.short";

/// Marks such locals.  Comes before legalization, which drops lifetimes.
void markShortLocals(BpfModule &B);

} // namespace cosy

#endif // COSY_PASS_SHORTLOCALS_H
