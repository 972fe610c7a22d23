// SPDX-License-Identifier: MIT
//===- Container.h - The bytes of struct cosy_compound --------------------===//
#ifndef COSY_PASS_CONTAINER_H
#define COSY_PASS_CONTAINER_H

#include "lower/Compound.h"

namespace cosy {

/// Makes the bytes of struct cosy_compound, with line table and strings.
std::vector<uint8_t> buildContainer(const Compound &C);

} // namespace cosy

#endif // COSY_PASS_CONTAINER_H
