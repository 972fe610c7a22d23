// SPDX-License-Identifier: MIT
//===- Validate.h - Would the kernel take a program? ----------------------===//
#ifndef COSY_PASS_VALIDATE_H
#define COSY_PASS_VALIDATE_H

#include <cstdint>
#include <string>
#include <vector>

namespace cosy {

/// Returns why core/ refuses a program, and sets Insn to the instruction; empty
/// if it does not.
std::string validateCode(const std::vector<uint8_t> &Code, uint32_t &Insn);

} // namespace cosy

#endif // COSY_PASS_VALIDATE_H
