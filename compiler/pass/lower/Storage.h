// SPDX-License-Identifier: MIT
//===- Storage.h - Locals and globals in the context ----------------------===//
#ifndef COSY_PASS_STORAGE_H
#define COSY_PASS_STORAGE_H

#include "base/Reason.h"
#include "lower/BpfModule.h"
#include "lower/Compound.h"

namespace cosy {

/// Places locals and the addresses of globals in the context.
void assignStorage(BpfModule &B, Compound &C, Reasons &Why);

} // namespace cosy

#endif // COSY_PASS_STORAGE_H
