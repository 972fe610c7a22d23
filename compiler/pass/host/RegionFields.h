// SPDX-License-Identifier: MIT
//===- RegionFields.h - The fields of struct cosy_region ------------------===//
//
// The struct is lib/region/region.h's.  Its LLVM type is made from this table,
// which is refused if it leaves out a member, or has one in another place.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PASS_REGIONFIELDS_H
#define COSY_PASS_REGIONFIELDS_H

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lib/region/region.h"

namespace cosy {

struct RegionField {
  size_t Offset, Size;
  bool IsPointer;
};

#define COSY_FIELD(Member)                                                     \
  RegionField {                                                                \
    offsetof(cosy_region, Member), sizeof(cosy_region::Member),                \
        std::is_pointer_v<decltype(cosy_region::Member)>                       \
  }
constexpr RegionField RegionFields[] = {
    COSY_FIELD(compound), COSY_FIELD(ctx_size),  COSY_FIELD(version),
    COSY_FIELD(cache),    COSY_FIELD(premises),  COSY_FIELD(left),
    COSY_FIELD(entry),    COSY_FIELD(gain),      COSY_FIELD(share),
    COSY_FIELD(flags),    COSY_FIELD(loops),     COSY_FIELD(life),
    COSY_FIELD(arrivals), COSY_FIELD(counted),   COSY_FIELD(key[0]),
    COSY_FIELD(key[1]),   COSY_FIELD(call_gain), COSY_FIELD(notes),
    COSY_FIELD(saved),    COSY_FIELD(reported),  COSY_FIELD(lost),
    COSY_FIELD(calls),
};
#undef COSY_FIELD

/// Returns the index of the field at an offset of the struct.
constexpr unsigned fieldAt(size_t Offset) {
  unsigned Index = 0;
  while (RegionFields[Index].Offset != Offset)
    Index++;
  return Index;
}

constexpr bool areWhole() {
  size_t End = 0;
  for (const RegionField &Field : RegionFields) {
    if (Field.Offset != End)
      return false;
    End += Field.Size;
  }
  return End == sizeof(cosy_region);
}
static_assert(areWhole(), "RegionFields has each member of cosy_region");

constexpr unsigned LeftField = fieldAt(offsetof(cosy_region, left));
/// Only a loop's head has one; else it is null.
constexpr unsigned EntryField = fieldAt(offsetof(cosy_region, entry));
constexpr unsigned FlagsField = fieldAt(offsetof(cosy_region, flags));
constexpr unsigned LostField = fieldAt(offsetof(cosy_region, lost));
constexpr unsigned CallsField = fieldAt(offsetof(cosy_region, calls));
/// Where a loop's head ends: it has no history of its own.
constexpr unsigned NumHeadFields = fieldAt(offsetof(cosy_region, key));

} // namespace cosy

#endif // COSY_PASS_REGIONFIELDS_H
