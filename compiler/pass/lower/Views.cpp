// SPDX-License-Identifier: MIT
//===- Views.cpp - Reads that leave the bytes in the page cache -----------===//
//
// view_read is read without the copy: until the module writes the view back,
// calls and operations find the bytes, and loads do not (docs/inside/views.md).
// So a read becomes a view when every load and store that may see its bytes is
// known; the few that there are become view_load and view_store.  Nobody else
// may look while the region runs; leaving it writes back.
//
//   call i64 @__cosy_call.0.lpl(i64 %fd, ptr %p, i64 4096)     ; read
//   %v = load i64, ptr %p
//
// becomes
//
//   call i64 @__cosy_call.65558.lpl(i64 %fd, ptr %p, i64 4096) ; view_read
//   %v = call i64 @__cosy_call.65560.pl(ptr %p, i64 8)         ; view_load
//
//===----------------------------------------------------------------------===//
#include "lower/Views.h"
#include "calls/CallTable.h"
#include "calls/ShortStrings.h"
#include "lower/BpfModule.h"
#include "lower/Buffers.h"
#include "lower/Compound.h"
#include "lower/Discard.h"
#include "lower/Intrinsics.h"
#include "region/Extracted.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/FormatVariadic.h"
#include <sys/syscall.h>

#define DEBUG_TYPE "cosy-choose-views"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumViews, "Number of reads that became views");
ALWAYS_ENABLED_STATISTIC(NumCopies, "Number of reads that stay copies");
ALWAYS_ENABLED_STATISTIC(NumAccesses,
                         "Number of loads and stores by way of a view");

/// Copying fewer bytes is cheaper than a view.
static constexpr uint64_t MinBytes = 512;

/// A load through a view costs some 60 instructions, a copy one for 8 bytes.
static constexpr uint64_t BytesPerAccess = 512;
static constexpr unsigned MaxAccesses = 8;
/// Maximum number of accesses if the number of bytes read is not a constant.
static constexpr unsigned MaxAccessesUnknown = 2;

namespace {
struct Read {
  CallInst *Call;
  bool AtOffset; ///< pread
  bool ByName;   ///< cosy_read: a view unless its bytes are looped over.
};

/// The reads into one object.
struct Group {
  Buffer Buf;
  SmallVector<Read, 4> Reads;
};

/// Knows which code of a function can run after one of some reads.
class RunsAfter {
  ArrayRef<Read> Reads;
  SmallPtrSet<const BasicBlock *, 16> Whole;

public:
  explicit RunsAfter(ArrayRef<Read> Reads) : Reads(Reads) {
    SmallVector<const BasicBlock *, 16> Work;
    for (const Read &R : Reads)
      append_range(Work, successors(R.Call->getParent()));
    while (!Work.empty()) {
      const BasicBlock *BB = Work.pop_back_val();
      if (Whole.insert(BB).second)
        append_range(Work, successors(BB));
    }
  }

  bool contains(const Instruction *I) const {
    return Whole.contains(I->getParent()) || any_of(Reads, [&](const Read &R) {
             return R.Call->getParent() == I->getParent() &&
                    R.Call->comesBefore(I);
           });
  }

  /// True if an instruction can run twice without a read between.
  bool repeats(const Instruction *I) const {
    const BasicBlock *Own = I->getParent();
    if (hasRead(Own, I, nullptr))
      return false;
    SmallPtrSet<const BasicBlock *, 16> Seen;
    SmallVector<const BasicBlock *, 16> Work(successors(Own));
    while (!Work.empty()) {
      const BasicBlock *BB = Work.pop_back_val();
      if (!Seen.insert(BB).second)
        continue;
      if (BB == Own) {
        if (!hasRead(BB, nullptr, I))
          return true;
      } else if (!hasRead(BB, nullptr, nullptr)) {
        append_range(Work, successors(BB));
      }
    }
    return false;
  }

private:
  /// True if a block has a read after From and before To.
  bool hasRead(const BasicBlock *BB, const Instruction *From,
               const Instruction *To) const {
    return any_of(Reads, [&](const Read &R) {
      return R.Call->getParent() == BB &&
             (!From || From->comesBefore(R.Call)) &&
             (!To || R.Call->comesBefore(To));
    });
  }
};

class ViewChooser {
  BpfModule &B;
  const Extracted &R;
  Compound &C;

public:
  ViewChooser(BpfModule &B, const Extracted &R, Compound &C)
      : B(B), R(R), C(C) {}

  void run() {
    // A choice for one buffer changes the code that the next one sees.
    for (Group G = nextGroup(); !G.Reads.empty(); G = nextGroup())
      choose(G);
  }

private:
  SmallPtrSet<const CallInst *, 16> Decided;

  /// Returns the first read that is not decided on, and all into the same
  /// buffer.
  Group nextGroup() {
    Group Ret;
    for (const Read &Found : findReads()) {
      if (Decided.contains(Found.Call))
        continue;
      Buffer Buf = bufferOf(B, R, C, Found.Call->getArgOperand(1));
      if (Ret.Reads.empty())
        Ret.Buf = Buf;
      if (Buf.Object == Ret.Buf.Object)
        Ret.Reads.push_back(Found);
    }
    return Ret;
  }

  SmallVector<Read, 8> findReads() {
    SmallVector<Read, 8> Found;
    for (Function &F : *B.M)
      for (Instruction &I : instructions(F)) {
        auto *Call = dyn_cast<CallInst>(&I);
        uint32_t Number;
        if (!Call || !isNumberedCall(Call->getCalledOperand(), Number) ||
            Call->arg_size() < 3 ||
            !Call->getArgOperand(1)->getType()->isPointerTy())
          continue;
        bool Plain = Number == SYS_read || Number == SYS_pread64;
        bool AtOffset =
            Number == SYS_pread64 || Number == operationNumber("view_pread");
        if (Plain || AtOffset || Number == operationNumber("view_read"))
          Found.push_back({Call, AtOffset, !Plain});
      }
    return Found;
  }

  void choose(Group &G) {
    bool ByName =
        any_of(G.Reads, [](const Read &Found) { return Found.ByName; });
    BufferUses Uses = usesOf(G.Buf);
    std::string Why = G.Buf.WhyShared;
    if (Why.empty() && Uses.Lost)
      Why = Uses.WhyLost + at(Uses.Lost);
    if (!Why.empty() && ByName)
      return isa<GlobalVariable>(G.Buf.Object) ? makePlain(G, Why)
                                               : chooseUnknown(G);
    if (!Why.empty())
      return makePlain(G, Why);

    // Code that runs before the first read sees memory as it is.
    RunsAfter After(G.Reads);
    auto Before = [&](Instruction *I) { return !After.contains(I); };
    erase_if(Uses.Accesses, Before);
    erase_if(Uses.Copies, Before);
    Why = loopedOver(Uses, After);
    if (Why.empty() && !ByName)
      Why = tooDear(G, Uses);
    if (!Why.empty())
      return makePlain(G, Why);
    makeViews(G, Uses);
  }

  /// Describes an access that runs more often than the reads; empty: none does.
  static std::string loopedOver(const BufferUses &Uses,
                                const RunsAfter &After) {
    for (Instruction *I : Uses.Accesses)
      if (After.repeats(I))
        return "its bytes are loaded or stored in a loop" + at(I);
    // In memory Strings.cpp does them in a few instructions.  A memchr may have
    // far to go.
    for (CallInst *Call : Uses.Calls) {
      uint32_t Number;
      if (isNumberedCall(Call->getCalledOperand(), Number) &&
          isExpandedInPlace(Number) && Number != operationNumber("memchr") &&
          After.contains(Call) && After.repeats(Call))
        return "its strings are scanned in a loop" + at(Call);
    }
    return "";
  }

  /// Returns why a copy is cheaper; empty: it is not.
  static std::string tooDear(const Group &G, const BufferUses &Uses) {
    uint64_t Allowed = MaxAccesses;
    for (const Read &Found : G.Reads) {
      auto *Count = dyn_cast<ConstantInt>(Found.Call->getArgOperand(2));
      uint64_t Most = Count ? Count->getZExtValue() : G.Buf.Size;
      if (Most && Most < MinBytes)
        return "too few bytes for a view to pay";
      Allowed = std::min<uint64_t>(Allowed, Count ? Most / BytesPerAccess
                                                  : MaxAccessesUnknown);
    }
    if (Uses.Accesses.size() > Allowed)
      return formatv("{0} loads and stores of its bytes, more than {1}",
                     Uses.Accesses.size(), Allowed)
          .str();
    return "";
  }

  //===--------------------------------------------------------------------===//
  // Views by name of buffers that others may know
  //===--------------------------------------------------------------------===//

  /// False if an access cannot be of the buffer's memory.
  bool mayTouch(const Value *Pointer, const Buffer &Buf) const {
    SmallVector<const Value *, 4> Objects;
    getUnderlyingObjects(Pointer, Objects, nullptr, /*MaxLookup=*/0);
    // An object that is older than the compound is none of its locals.
    bool IsOlder = fieldOf(Buf.Object).has_value();
    return any_of(Objects, [&](const Value *O) {
      if (std::optional<uint64_t> Field = fieldOf(O))
        return is_contained(C.InputOffsets, unsigned(*Field));
      if (isa<AllocaInst>(O))
        return !IsOlder;
      // Globals are never in the shared buffer, so never a view.
      return !isa<GlobalVariable>(O) && !isContext(O);
    });
  }

  static bool isContext(const Value *V) {
    const auto *Call = dyn_cast<CallInst>(V);
    return Call && Call->getCalledFunction() &&
           Call->getCalledFunction()->getName() == ContextName;
  }

  /// Makes a view by name of a buffer that others may know: every access that
  /// may be of it goes to where the bytes are.
  void chooseUnknown(Group &G) {
    const Function *Own = G.Reads.front().Call->getFunction();
    BufferUses All;
    for (Function &F : *B.M)
      for (Instruction &I : instructions(F)) {
        std::string Why = addAccess(I, G.Buf, All);
        if (Why.empty() && &F != Own &&
            !(All.Accesses.empty() && All.Copies.empty()))
          Why = "a function that is not inlined may access its bytes";
        if (!Why.empty())
          return makePlain(G, Why + at(&I));
      }
    // Each of several reads by name may be of this buffer.
    SmallVector<Read, 8> Reads = findReads();
    std::string Why = loopedOver(All, RunsAfter(Reads));
    if (!Why.empty())
      return makePlain(G, Why);
    makeViews(G, All);
  }

  /// Adds an instruction that may be an access of the buffer.  Returns why it
  /// cannot be rewritten; empty: it can.
  std::string addAccess(Instruction &I, const Buffer &Buf, BufferUses &All) {
    if (auto *Mem = dyn_cast<MemIntrinsic>(&I)) {
      auto *Copy = dyn_cast<MemTransferInst>(Mem);
      if (mayTouch(Mem->getDest(), Buf) ||
          (Copy && mayTouch(Copy->getSource(), Buf)))
        All.Copies.push_back(Mem);
      return "";
    }
    if (I.isAtomic() || I.isVolatile())
      return "a volatile or atomic access";
    Value *Pointer = getLoadStorePointerOperand(&I);
    if (!Pointer || !mayTouch(Pointer, Buf))
      return "";
    if (!isSmall(getLoadStoreType(&I)))
      return "a floating-point access, or one of many bytes";
    All.Accesses.push_back(&I);
    return "";
  }

  bool isSmall(Type *Ty) const {
    uint64_t Size = B.M->getDataLayout().getTypeStoreSize(Ty);
    return Size <= 8 && isPowerOf2_64(Size) &&
           (Ty->isIntegerTy() || Ty->isPointerTy());
  }

  //===--------------------------------------------------------------------===//
  // Rewriting
  //===--------------------------------------------------------------------===//

  static std::string at(const Instruction *I) {
    const DebugLoc &Where = I->getDebugLoc();
    return Where && Where.getLine() ? formatv(" (line {0})", Where.getLine())
                                    : std::string();
  }

  static const char *nameOf(const Read &Found) {
    return Found.AtOffset ? "pread" : "read";
  }

  void renumber(const Read &Found, uint32_t Number) {
    IRBuilder<> IB(Found.Call);
    SmallVector<Value *, 4> Args(Found.Call->args());
    CallInst *New = B.createCall(IB, Number, Args);
    Decided.insert(New);
    Found.Call->replaceAllUsesWith(New);
    Found.Call->eraseFromParent();
  }

  /// Reports why the reads copy, and makes those by name plain ones.
  void makePlain(const Group &G, const std::string &Why) {
    NumCopies += G.Reads.size();
    for (const Read &Found : G.Reads) {
      Decided.insert(Found.Call);
      C.Choices.push_back({false,
                           formatv("{0} copies: {1}", nameOf(Found), Why),
                           Found.Call->getDebugLoc()});
      if (Found.ByName)
        renumber(Found, Found.AtOffset ? SYS_pread64 : SYS_read);
    }
  }

  void makeViews(Group &G, const BufferUses &Uses) {
    unsigned Accesses = Uses.Accesses.size();
    NumViews += G.Reads.size();
    NumAccesses += Accesses;
    for (const Read &Found : G.Reads) {
      std::string Text =
          formatv("{0} without a copy (view_{0})", nameOf(Found));
      if (Accesses)
        Text += formatv(", {0} load{1} or store{1} through the view", Accesses,
                        Accesses == 1 ? "" : "s");
      C.Choices.push_back({true, Text, Found.Call->getDebugLoc()});
      renumber(Found,
               operationNumber(Found.AtOffset ? "view_pread" : "view_read"));
    }
    for (Instruction *I : Uses.Accesses)
      if (auto *L = dyn_cast<LoadInst>(I))
        rewriteLoad(L);
      else
        rewriteStore(cast<StoreInst>(I));
    for (MemIntrinsic *Mem : Uses.Copies) {
      createMemoryOperation(B, Mem);
      Mem->eraseFromParent();
    }
    discardAfterUses(B, G.Buf);
    for (IntrinsicInst *I : Uses.Lifetimes)
      I->eraseFromParent();
  }

  uint64_t sizeOf(Type *Ty) const {
    return B.M->getDataLayout().getTypeStoreSize(Ty);
  }

  void rewriteLoad(LoadInst *L) {
    IRBuilder<> IB(L);
    Value *V = B.createCall(
        IB, operationNumber("view_load"),
        {L->getPointerOperand(), IB.getInt64(sizeOf(L->getType()))});
    if (L->getType()->isPointerTy())
      V = IB.CreateIntToPtr(V, L->getType());
    else
      V = IB.CreateTrunc(V, L->getType());
    L->replaceAllUsesWith(V);
    L->eraseFromParent();
  }

  void rewriteStore(StoreInst *S) {
    IRBuilder<> IB(S);
    Value *V = S->getValueOperand();
    uint64_t Size = sizeOf(V->getType());
    if (V->getType()->isPointerTy())
      V = IB.CreatePtrToInt(V, IB.getInt64Ty());
    else
      V = IB.CreateZExt(V, IB.getInt64Ty());
    B.createCall(IB, operationNumber("view_store"),
                 {S->getPointerOperand(), V, IB.getInt64(Size)},
                 IB.getVoidTy());
    S->eraseFromParent();
  }
};
} // namespace

void cosy::chooseViews(BpfModule &B, const Extracted &R, Compound &C) {
  ViewChooser(B, R, C).run();
}
