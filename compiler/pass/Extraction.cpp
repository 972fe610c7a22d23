// SPDX-License-Identifier: MIT
//===- Extraction.cpp - Regions become functions --------------------------===//
//
// The stages on a marked function, up to the functions that its regions become:
//
//   call @__cosy_region_start
//   ..                        ->    call void @f.cosy(i32 %fd, ptr %n)
//   call @__cosy_region_end
//
//===----------------------------------------------------------------------===//
#include "Extraction.h"
#include "base/Options.h"
#include "region/Extract.h"
#include "region/Leave.h"
#include "region/Markers.h"
#include "region/Natives.h"
#include "region/Normalize.h"
#include "region/ObjectSizes.h"
#include "region/PointerCalls.h"
#include "region/VariadicCalls.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace cosy;

/// Returns why no region of this module can be compiled, or "".
static std::string unsupportedTarget(const Module &M) {
  Triple T(M.getTargetTriple());
  if (T.getArch() != Triple::x86_64 || T.isX32() || !T.isOSLinux())
    return "the target is " + T.str() + ", and compounds are for x86-64 Linux";
  // No function has an attribute that would say so.
  if (options().DataFlow)
    return "DataFlowSanitizer cannot see what a compound moves";
  return "";
}

/// Returns why no region of this function can be compiled, or "".
static std::string unsupportedFunction(const Function &F) {
  if (F.hasFnAttribute(Attribute::SanitizeMemory))
    return "MemorySanitizer cannot see what a compound writes";
  if (F.hasFnAttribute(Attribute::SanitizeThread))
    return "ThreadSanitizer cannot see what a compound accesses";
  if (F.hasFnAttribute(Attribute::SanitizeHWAddress))
    return "a compound does not know the tags of HWAddressSanitizer";
  if (F.isPresplitCoroutine())
    return "it is in a coroutine";
  if (F.getCallingConv() == CallingConv::X86_INTR)
    return "it is in an interrupt handler";
  return "";
}

SmallVector<Function *, 8> cosy::markedFunctions(Module &M) {
  SmallVector<Function *, 8> Marked;
  for (Function &F : M)
    if (hasMarkers(F))
      Marked.push_back(&F);
  return Marked;
}

std::vector<Extracted>
cosy::extractRegions(Function &F, ArrayRef<Function *> Hosts, RegionEnd End,
                     FunctionAnalysisManager &FAM, ExtractionReport Report) {
  std::string Unsupported = unsupportedTarget(*F.getParent());
  if (Unsupported.empty())
    Unsupported = unsupportedFunction(F);
  bool EndsBeforeCalls = End == RegionEnd::BeforeCalls && Unsupported.empty();

  if (Reasons Unpaired = pairMarkers(F); !Unpaired.empty())
    Report(F, Region(), Unpaired, {});
  normalizeFunction(F, FAM);
  resolveObjectSizes(F, FAM);
  normalizeCallees(F, FAM);
  if (EndsBeforeCalls) {
    promotePointerCalls(F);
    fixVariadicCalls(F);
    inlineMixed(F, Hosts, FAM);
    threadExits(F, FAM);
  }
  std::vector<Extracted> All;
  for (Region R = findRegion(F); R.Start; R = findRegion(F)) {
    Reasons Why, Left;
    Extracted E;
    if (EndsBeforeCalls)
      leaveEarly(F, R, Left);
    if (!Unsupported.empty())
      Why.push_back({Unsupported, {}});
    else if (extractRegion(F, R, E, Why))
      All.push_back(E);
    Report(F, R, Why, Left);
    dropMarkers(F, R);
  }
  dropMarkers(F, Region());
  return All;
}
