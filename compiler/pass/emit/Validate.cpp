// SPDX-License-Identifier: MIT
//===- Validate.cpp - The validator that the kernel uses ------------------===//
//
// Compiled code is shown to the validator of core/, as the module will do when
// it loads the code: what the kernel would refuse fails the build instead.
//
//===----------------------------------------------------------------------===//
#include "emit/Validate.h"
#include <cstring>

extern "C" {
#include "core.h"
}

std::string cosy::validateCode(const std::vector<uint8_t> &Code,
                               uint32_t &Insn) {
  std::vector<bpf_insn> Insns(Code.size() / sizeof(bpf_insn));
  std::memcpy(Insns.data(), Code.data(), Insns.size() * sizeof(bpf_insn));
  cosy_validated Program;
  cosy_reject Reject = {};
  int Error = cosy_validate(Insns.data(), Insns.size(), &Program, &Reject);
  if (!Error) {
    cosy_validated_deinit(&Program);
    return "";
  }
  Insn = Reject.insn;
  return Reject.reason[0] ? Reject.reason : std::strerror(-Error);
}
