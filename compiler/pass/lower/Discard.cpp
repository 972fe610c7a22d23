// SPDX-License-Identifier: MIT
//===- Discard.cpp - Views that end after their last use ------------------===//
//
// Before a call that may wait the module writes views back, which is in vain
// for a buffer that nobody looks at any more (docs/inside/views.md).  discard
// says so after the last use of a local, on each way that the region can take
// from there.  A part of cosy-choose-views:
//
//   call i64 @__cosy_call.65558.lpl(i64 %fd, ptr %p, i64 4096) ; view_read
//   call void @__cosy_call.65570.pl(ptr %p, i64 4096)          ; discard, added
//
//===----------------------------------------------------------------------===//
#include "lower/Discard.h"
#include "calls/CallTable.h"
#include "lower/BpfModule.h"
#include "lower/Buffers.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/IR/CFG.h"

#define DEBUG_TYPE "cosy-discard"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumDiscards, "Number of discards after last uses");

namespace {
/// Knows where a local's bytes are still looked at.
class Liveness {
  SmallPtrSet<const Instruction *, 16> Looks, Ends;
  SmallPtrSet<const BasicBlock *, 16> LiveIn;

public:
  Liveness(const Function &F, const BufferUses &Uses) {
    Looks.insert(Uses.Calls.begin(), Uses.Calls.end());
    Looks.insert(Uses.Accesses.begin(), Uses.Accesses.end());
    Looks.insert(Uses.Copies.begin(), Uses.Copies.end());
    Ends.insert(Uses.Lifetimes.begin(), Uses.Lifetimes.end());
    // A read is a look: it may leave a part of what was there before.
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (const BasicBlock &BB : F)
        if (!LiveIn.contains(&BB) && isLiveFrom(BB.begin(), BB))
          Changed |= LiveIn.insert(&BB).second;
    }
  }

  bool isLiveIn(const BasicBlock &BB) const { return LiveIn.contains(&BB); }

  bool isLiveOut(const BasicBlock &BB) const {
    return any_of(successors(&BB), [&](const BasicBlock *Next) {
      return LiveIn.contains(Next);
    });
  }

  bool isLiveAfter(const Instruction &I) const {
    return isLiveFrom(std::next(I.getIterator()), *I.getParent());
  }

  const SmallPtrSetImpl<const Instruction *> &looks() const { return Looks; }

private:
  bool isLiveFrom(BasicBlock::const_iterator At, const BasicBlock &BB) const {
    for (const Instruction &I : make_range(At, BB.end())) {
      if (Looks.contains(&I))
        return true;
      if (Ends.contains(&I))
        return false;
    }
    return isLiveOut(BB);
  }
};
} // namespace

void cosy::discardAfterUses(BpfModule &B, const Buffer &Buf) {
  auto *Object = dyn_cast<AllocaInst>(Buf.Object);
  if (!Object || !Buf.Size)
    return;
  BufferUses Uses = usesOf(Buf);
  Function &F = *Object->getFunction();
  if (Uses.Lost)
    return;
  Liveness Live(F, Uses);

  SmallVector<Instruction *, 8> Before;
  for (BasicBlock &BB : F) {
    for (Instruction &I : BB)
      if (Live.looks().contains(&I) && !Live.isLiveAfter(I))
        Before.push_back(I.getNextNode());
    // Discard only where it was live on every way here: on any other way there
    // may be no view of it.
    if (!Live.isLiveIn(BB) && !pred_empty(&BB) &&
        all_of(predecessors(&BB),
               [&](BasicBlock *From) { return Live.isLiveOut(*From); }))
      Before.push_back(&*BB.getFirstInsertionPt());
  }
  NumDiscards += Before.size();
  for (Instruction *I : Before) {
    IRBuilder<> IB(I);
    B.createCall(IB, operationNumber("discard"),
                 {Object, IB.getInt64(Buf.Size)}, IB.getVoidTy());
  }
}
