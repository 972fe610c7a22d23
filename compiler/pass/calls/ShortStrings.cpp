// SPDX-License-Identifier: MIT
//===- ShortStrings.cpp - Operations that are done in place if short ------===//
#include "calls/ShortStrings.h"
#include "calls/CallTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace cosy;

bool cosy::isExpandedInPlace(StringRef Name) {
  return is_contained(AsTheyAre, Name) || is_contained(Comparing, Name);
}

bool cosy::isExpandedInPlace(uint32_t Number) {
  auto isIt = [&](const char *Name) { return operationNumber(Name) == Number; };
  return any_of(AsTheyAre, isIt) || any_of(Comparing, isIt);
}
