// SPDX-License-Identifier: MIT
//===- Recursion.cpp - Functions of a region that recurse -----------------===//
//
// Finds the functions that a region calls and that call themselves, as a walk
// through a tree does.  RecursionEntries.cpp makes the ways into the kernel
// there.
//
//===----------------------------------------------------------------------===//
#include "tier/Recursion.h"
#include "calls/Callees.h"
#include "region/Extracted.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include <utility>

using namespace llvm;
using namespace cosy;

/// Functions of one region with a way in; each is one more compound.
static constexpr unsigned MaxRecursions = 2;

/// Functions that are copied for one of them.
static constexpr unsigned MaxCopied = 16;

using Functions = SmallSetVector<Function *, 8>;

/// True if a copy of F does the same as F.
static bool canCopy(const Function &F) {
  return !F.isDeclaration() && !F.isInterposable() && !F.isVarArg() &&
         !F.callsFunctionThatReturnsTwice() &&
         !F.hasFnAttribute(Attribute::SanitizeAddress) &&
         !F.hasFnAttribute(Attribute::Naked) &&
         none_of(F, [](const BasicBlock &BB) { return BB.hasAddressTaken(); });
}

/// Returns F and what it calls, directly or not, and can be copied.
static Functions reachableFrom(Function &F, ArrayRef<Function *> Hosts) {
  Functions Ret;
  Ret.insert(&F);
  for (unsigned I = 0; I < Ret.size() && Ret.size() <= MaxCopied; ++I)
    for (Function *Callee : calleesOf(*Ret[I]))
      // A function that holds a region counts for that one.
      if (canCopy(*Callee) && !is_contained(Hosts, Callee))
        Ret.insert(Callee);
  return Ret;
}

/// True if a value goes through a compound's context as it is.
static bool isScalar(const Type &Ty) {
  return Ty.isPointerTy() ||
         (Ty.isIntegerTy() && Ty.getIntegerBitWidth() <= 64);
}

/// True if a compound may make a call of F in its place.
static bool canEnter(const Function &F) {
  return (F.getReturnType()->isVoidTy() || isScalar(*F.getReturnType())) &&
         all_of(F.args(), [](const Argument &A) {
           return isScalar(*A.getType()) &&
                  !A.hasPassPointeeByValueCopyAttr() && !A.hasStructRetAttr() &&
                  !A.hasNestAttr() && !A.hasSwiftErrorAttr();
         });
}

/// Finds the copied functions that lead to one of Entered.
static void findRecursing(Recursion &In) {
  In.Recursing.assign(In.Entered.begin(), In.Entered.end());
  for (bool More = true; std::exchange(More, false);)
    for (Function *F : In.Copied)
      if (!is_contained(In.Recursing, F) &&
          any_of(calleesOf(*F), [&](Function *Callee) {
            return is_contained(In.Recursing, Callee);
          })) {
        In.Recursing.push_back(F);
        More = true;
      }
}

Recursion cosy::findRecursion(const Extracted &R, ArrayRef<Function *> Hosts) {
  Recursion Ret;
  if (R.Body->hasFnAttribute(Attribute::SanitizeAddress))
    return Ret;
  for (Function *F : calleesOf(*R.Body)) {
    if (Ret.Entered.size() == MaxRecursions || !canCopy(*F) || !canEnter(*F) ||
        is_contained(Hosts, F))
      continue;
    Functions Reachable = reachableFrom(*F, Hosts);
    if (Reachable.size() > MaxCopied || none_of(Reachable, [&](Function *G) {
          return calleesOf(*G).contains(F);
        }))
      continue;
    Ret.Entered.push_back(F);
    for (Function *G : Reachable)
      if (!is_contained(Ret.Copied, G))
        Ret.Copied.push_back(G);
  }
  findRecursing(Ret);
  return Ret;
}
