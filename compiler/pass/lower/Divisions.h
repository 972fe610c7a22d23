// SPDX-License-Identifier: MIT
//===- Divisions.h - Divisions that x86-64 traps on -----------------------===//
#ifndef COSY_PASS_DIVISIONS_H
#define COSY_PASS_DIVISIONS_H

#include "lower/BpfModule.h"

namespace cosy {

/// Tests the divisions of functions that the host does not optimise, all that
/// may trap there; before optimisation.
void testDivisionsAsWritten(BpfModule &B);
/// Tests the divisions that may trap natively; after optimisation.
void testDivisions(BpfModule &B);

} // namespace cosy

#endif // COSY_PASS_DIVISIONS_H
