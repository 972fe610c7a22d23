// SPDX-License-Identifier: MIT
//===- HostBuffers.h - Buffers that a region is given ---------------------===//
#ifndef COSY_PASS_HOSTBUFFERS_H
#define COSY_PASS_HOSTBUFFERS_H

#include "region/Extracted.h"
#include <string>

namespace cosy {

/// A buffer that a region is given as an input.
struct HostBuffer {
  uint64_t Size = 0; ///< Bytes, 0 = not known.
  /// Why others may look at it while the region runs; empty: nobody can.
  std::string WhyShared;
};
HostBuffer inputBuffer(const Extracted &R, unsigned Input);

/// True if an input is an address that nobody but the region can know while it
/// runs, and no other input leads there.
bool isKnownToRegionOnly(const Extracted &R, unsigned Input);

} // namespace cosy

#endif // COSY_PASS_HOSTBUFFERS_H
