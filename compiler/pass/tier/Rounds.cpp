// SPDX-License-Identifier: MIT
//===- Rounds.cpp - How often loops iterate and blocks run ----------------===//
//
// By LLVM's estimates, which include profiles, where nothing is known.
//
//===----------------------------------------------------------------------===//
#include "tier/Rounds.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GlobalVariable.h"
#include <algorithm>
#include <cmath>
#include <optional>

using namespace llvm;
using namespace cosy;

/// Returns which part of Whole is taken; all of it where nothing is known.
static double part(double Taken, double Whole) {
  return Whole > 0 ? std::min(Taken / Whole, 1.0) : 1;
}

bool Rounds::areCounted(const Loop &L) {
  const LoopCounts &C = counts(L);
  return C.Skipped || C.Call || C.AddsUp;
}

double Rounds::often(const BasicBlock &BB, const Loop *Around) {
  double Runs = frequency(BB), Ret = 1;
  for (const Loop *L = LI.getLoopFor(&BB); L != Around;
       L = L->getParentLoop()) {
    Ret *= part(Runs, rounds(*L));
    Runs = entries(*L);
  }
  return Ret * part(Runs, Around
                              ? rounds(*Around)
                              : frequency(DT.getRoot()->getParent()->front()));
}

int64_t Rounds::of(const Loop &L) {
  auto [It, New] = Known.insert({&L, MaxRounds});
  if (!New)
    return It->second;
  // Where inner loops make the calls, rounds are not as many as bytes.
  bool Calls =
      any_of(L, [&](const Loop *Inner) { return mayMakeCall(*Inner); });
  int64_t Ret = Calls || recursions(L) > 0 ? assumed(L) : MaxRounds;
  if (unsigned Exactly = SE.getSmallConstantTripCount(&L))
    Ret = std::min<int64_t>(Exactly, MaxRounds);
  else if (unsigned Bound = SE.getSmallConstantMaxTripCount(&L))
    Ret = std::min<int64_t>(Bound, Ret);
  for (const BasicBlock *BB : L.blocks())
    if (const BasicBlock *Latch = L.getLoopLatch();
        Latch && DT.dominates(BB, Latch))
      for (const Instruction &I : *BB)
        Ret = std::min(Ret, within(I, L));
  return Known[&L] = Ret;
}

int64_t Rounds::assumed(const Loop &L) {
  double Part = recursions(L);
  return Part > 0 ? std::clamp<int64_t>(std::lround(1 / Part), 1, AssumedRounds)
                  : AssumedRounds;
}

/// Returns how many recursive calls a round of L makes outside of inner loops.
double Rounds::recursions(const Loop &L) {
  double Ret = 0;
  for (const BasicBlock *BB : L.blocks())
    if (LI.getLoopFor(BB) == &L)
      Ret += often(*BB, &L) * count_if(*BB, [&](const Instruction &I) {
               const auto *Call = dyn_cast<CallBase>(&I);
               return Call &&
                      is_contained(In.Recursing, Call->getCalledFunction());
             });
  return Ret;
}

/// Returns how often a loop goes all its way round.  When it ends is a guess
/// that no round depends on.
double Rounds::rounds(const Loop &L) {
  const BasicBlock *Latch = L.getLoopLatch();
  return frequency(Latch ? *Latch : *L.getHeader());
}

/// Returns how often a loop is entered.
double Rounds::entries(const Loop &L) {
  double Ret = 0;
  for (const BasicBlock *Pred : predecessors(L.getHeader()))
    if (!L.contains(Pred))
      Ret += frequency(*Pred, *L.getHeader());
  return Ret;
}

/// Returns for how many rounds there is room where each goes on to another
/// place of an object of known size.
int64_t Rounds::within(const Instruction &I, const Loop &L) {
  const Value *Pointer = getLoadStorePointerOperand(&I);
  const auto *Place =
      Pointer
          ? dyn_cast<SCEVAddRecExpr>(SE.getSCEV(const_cast<Value *>(Pointer)))
          : nullptr;
  const auto *Step = Place && Place->getLoop() == &L
                         ? dyn_cast<SCEVConstant>(Place->getStepRecurrence(SE))
                         : nullptr;
  std::optional<TypeSize> Size;
  if (Step) {
    const Value *Object = getUnderlyingObject(Pointer);
    if (const auto *Local = dyn_cast<AllocaInst>(Object))
      Size = Local->getAllocationSize(I.getDataLayout());
    else if (const auto *Global = dyn_cast<GlobalVariable>(Object))
      Size = I.getDataLayout().getTypeAllocSize(Global->getValueType());
  }
  if (!Size || Size->isScalable())
    return MaxRounds;
  uint64_t Each = Step->getAPInt().abs().getLimitedValue();
  return std::clamp<int64_t>(Size->getFixedValue() / Each, 1, MaxRounds);
}
