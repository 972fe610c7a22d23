// SPDX-License-Identifier: MIT
//===- Views.h - Reads without the copy -----------------------------------===//
#ifndef COSY_PASS_VIEWS_H
#define COSY_PASS_VIEWS_H

#include "lower/BpfModule.h"
#include "lower/Compound.h"
#include "region/Extracted.h"

namespace cosy {

/// Makes reads into buffers that nothing else sees views of the page cache.
void chooseViews(BpfModule &B, const Extracted &R, Compound &C);

} // namespace cosy

#endif // COSY_PASS_VIEWS_H
