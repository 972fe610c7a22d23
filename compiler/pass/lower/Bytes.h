// SPDX-License-Identifier: MIT
//===- Bytes.h - Reads of a single byte -----------------------------------===//
#ifndef COSY_PASS_BYTES_H
#define COSY_PASS_BYTES_H

#include "lower/BpfModule.h"
#include "lower/Compound.h"
#include "region/Extracted.h"

namespace cosy {

/// Makes reads of a single byte into a local readc, which returns it in a
/// register; true when there was one.
bool chooseBytes(BpfModule &B, const Extracted &R, Compound &C);

} // namespace cosy

#endif // COSY_PASS_BYTES_H
