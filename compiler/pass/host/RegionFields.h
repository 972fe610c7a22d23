// SPDX-License-Identifier: MIT
//===- RegionFields.h - The fields of struct cosy_region ------------------===//
#ifndef COSY_PASS_REGIONFIELDS_H
#define COSY_PASS_REGIONFIELDS_H

#include <cstdint>

namespace cosy {

/// The index of `left` in struct cosy_region.
constexpr unsigned LeftField = 5;

/// The index of `entry` there.  Only a loop's head has one; else it is null.
constexpr unsigned EntryField = 6;

/// The index of `flags` there, with COSY_REGION_FORCE, COSY_REGION_LOSES and
/// COSY_REGION_AGAIN.
constexpr unsigned FlagsField = 9, ForceFlag = 1, LosesFlag = 2, AgainFlag = 16;
/// The entry is followed by what the user's history needs.
constexpr unsigned KeyedFlag = 32;
/// It counts the native twin's system calls.
constexpr unsigned CountedFlag = 128;
constexpr unsigned LostShift = 8; ///< Of RegionCost::Lost, in the flags.

/// COSY_LEFT_MAX of lib/region/region.h.
constexpr uint64_t MaxLeft = 0x7fffffff;

} // namespace cosy

#endif // COSY_PASS_REGIONFIELDS_H
