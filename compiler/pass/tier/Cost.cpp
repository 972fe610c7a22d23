// SPDX-License-Identifier: MIT
//===- Cost.cpp - What a region gains in the kernel -----------------------===//
//
// Estimates from the native twin's code and the measured costs of
// core/costs.h: each system call saves its crossing, each access to memory and
// each iteration of a loop costs more than outside.  Code on a conditional path
// counts by the probability that LLVM gives the path, which includes profiles.
// How often a loop iterates is not known.  A loop that may make calls is
// assumed to iterate AssumedRounds times; a loop that recurses as often as it
// takes for one recursive call, because each of those calls counts by itself;
// any other loop as often as it may.  Loops in loops iterate MaxRounds times
// together at most, and what is lost in assumed iterations never outweighs an
// iteration that mostly makes a call (bounded).
//
//===----------------------------------------------------------------------===//
#include "tier/Cost.h"
#include "calls/CallTable.h"
#include "calls/FormatCalls.h"
#include "calls/LibcCalls.h"
#include "calls/RuntimeBodies.h"
#include "calls/ShortStrings.h"
#include "region/Extracted.h"
#include "tier/Accesses.h"
#include "tier/LoopAnalyses.h"
#include "tier/Recursion.h"
#include "tier/RegionCost.h"
#include "tier/Rounds.h"
#include "tier/Skips.h"
#include "tier/SystemCalls.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include <algorithm>
#include <cmath>
#include <costs.h>
#include <fcntl.h>
#include <sys/syscall.h>

extern "C" {
#include "core.h"
}

using namespace llvm;
using namespace cosy;

/// Entries that a composite is assumed to find: those of a small directory.
static constexpr double AssumedFound = 16;

/// Rounds an estimate to what a region's structure holds.
static int64_t rounded(double Instructions) {
  return std::lround(
      std::clamp<double>(Instructions, INT32_MIN / 2, INT32_MAX / 2));
}

/// Returns a number of calls as the native twin counts it.
static int64_t inParts(double Calls) { return rounded(Calls * CallParts); }

static Gain operator+(Gain A, Gain B) {
  return {A.Saved + B.Saved,   A.Plain + B.Plain,     A.Calls + B.Calls,
          A.Number + B.Number, A.Guessed + B.Guessed, A.Best + B.Best};
}
static Gain operator*(Gain A, double N) {
  return {A.Saved * N,  A.Plain * N,   A.Calls * N,
          A.Number * N, A.Guessed * N, A.Best * N};
}

/// Keeps assumed counts from outweighing calls that mostly are made: what they
/// lose leaves some of what the calls save.
static Gain bounded(Gain G) {
  double Least = G.Calls / 4;
  if (G.Number >= 0.5 && G.Saved < Least)
    G.Saved = std::min(G.Saved + G.Guessed, Least);
  return G;
}

/// Marks a loop whose rounds lose nothing, since it takes words.
static constexpr char WidenedName[] = "cosy.widened";

static bool isWidened(const Loop &L) {
  return getOptionalBoolLoopAttribute(&L, WidenedName).value_or(false);
}

/// True if both are the same place of the source.
static bool isSamePlace(const DebugLoc &A, const DebugLoc &B) {
  return A && B && A.getLine() == B.getLine() && A.getCol() == B.getCol() &&
         A->getFilename() == B->getFilename();
}

void cosy::markWidened(Module &M, ArrayRef<DebugLoc> Widened) {
  if (Widened.empty())
    return;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    DominatorTree DT(F);
    LoopInfo LI(DT);
    for (Loop *L : LI.getLoopsInPreorder())
      if (L->isInnermost() && any_of(Widened, [&](const DebugLoc &Where) {
            return isSamePlace(Where, L->getStartLoc());
          }))
        addStringMetadataToLoop(L, WidenedName, true);
  }
}

/// Returns what a system call saves whose buffer, if any, is the shared one; an
/// open, of a regular file or a directory that exists.
static Gain ofOneCall(uint64_t Number) {
  // The specialised close gains nothing itself: it leaves names known, which is
  // the gain of the next call by name.
  bool Fast = hasFastVersion(Number) && Number != SYS_close,
       Path = takesPath(Number);
  double Saved = !Fast  ? COSY_GAIN_CALL
                 : Path ? COSY_GAIN_PATH
                        : COSY_GAIN_FAST;
  return {Saved,
          double(Path   ? COSY_PLAIN_PATH
                 : Fast ? COSY_PLAIN_FAST
                        : COSY_PLAIN_CALL),
          Saved, 1};
}

static bool isOpen(uint64_t Number) {
  return Number == SYS_open || Number == SYS_openat;
}

/// Returns what an open saves that the kernel makes itself.
static Gain ofOrdinaryOpen() {
  return {COSY_GAIN_CALL, COSY_PLAIN_PATH, COSY_GAIN_CALL, 1};
}

/// What a composite makes a call for, as often as it finds one: its result says
/// how often.
struct CompositeUnit {
  uint32_t Call = 0;
  bool IsFound = false;
  unsigned Result = 1; ///< Of the composite, for each.
};

static CompositeUnit unitOf(uint32_t Number) {
  // An entry has a struct cosy_dirent and its name.
  if (Number == operationNumber("scan_dir") ||
      Number == operationNumber("scan_tree"))
    return {SYS_newfstatat, true, sizeof(cosy_dirent) + 24};
  if (Number == operationNumber("epoll_read"))
    return {SYS_read, true, 1};
  return {};
}

/// Returns what a composite saves for each unit.
static Gain ofUnit(const CompositeUnit &Unit) {
  if (Unit.Call == SYS_newfstatat)
    return {COSY_GAIN_ENTRY, COSY_PLAIN_ENTRY, COSY_GAIN_ENTRY, 1};
  return ofOneCall(Unit.Call);
}

/// Returns what a composite saves beside what it does for each unit: its other
/// calls, each once, or one of them where it makes either.
static Gain ofComposite(uint32_t Number) {
  SmallVector<uint32_t, 4> Calls;
  switch (Number) {
#define NUMBER_OF(call) SYS_##call
#define COSY_COMPOSITE(number, name, args, flags, views, ...)                  \
  case COSY_OP_BASE + number:                                                  \
    Calls = {COSY_COMPOSITE_EACH(NUMBER_OF, __VA_ARGS__)};                     \
    break;
#include "ops.def"
  }
  for (StringRef Name : {"lend", "loan", "transfer", "pass"})
    if (Number == operationNumber(Name))
      Calls.truncate(1);
  Gain Ret;
  SmallSet<uint32_t, 4> Seen;
  for (uint32_t Call : Calls) {
    if (!Seen.insert(Call).second ||
        (unitOf(Number).IsFound && unitOf(Number).Call == Call))
      continue;
    Gain G = isOpen(Call) && Number != operationNumber("read_file")
                 ? ofOrdinaryOpen()
                 : ofOneCall(Call);
    // Nothing is known of where its bytes come from.
    if (Call == SYS_write || Call == SYS_pwrite64)
      G.Saved = G.Calls = COSY_GAIN_WRITE_ELSEWHERE;
    Ret = Ret + G;
  }
  return Ret;
}

namespace {
/// Adds up what code saves in the kernel.
class Estimate {
  /// Results for functions that are called; 0 for one that is being looked at,
  /// so that recursion ends.
  DenseMap<const Function *, Gain> Known;
  const Recursion &In;

public:
  Accesses Memory;

  explicit Estimate(const Recursion &In) : In(In) {
    // Each call of these is counted at the function's entry.
    for (const Function *F : In.Entered)
      Known[F] = Gain{};
  }

  /// Sums up a function, each loop for as many rounds as are assumed, unless
  /// they are counted in the function's copy.
  Gain ofFunction(const Function &F) {
    auto [It, New] = Known.insert({&F, Gain{}});
    if (!New)
      return It->second;
    Rounds Loops(const_cast<Function &>(F), In);
    Memory.findFetches(Loops, /*InLoopsOnly=*/false);
    bool Copied = is_contained(In.Copied, &F);
    Loops.CountLosses = Copied;
    Gain Ret = ofEntry(F, Loops);
    for (const Loop *L : Loops.LI.getLoopsInPreorder())
      if (Loops.areCounted(*L) && !(Copied && Loops.counts(*L).Skipped))
        Ret = Ret + ofAssumed(*L, Loops);
    return Known[&F] = Ret;
  }

  /// Sums up the code that is in no loop whose rounds are counted.
  Gain ofEntry(const Function &F, Rounds &Loops) {
    Gain Ret;
    for (const BasicBlock &BB : F)
      Ret = Ret + ofBlock(BB, nullptr, Loops);
    return Ret;
  }

  /// Sums up the rounds of a loop that could be counted, but are not.
  Gain ofAssumed(const Loop &L, Rounds &Loops) {
    return ofRound(L, Loops) *
           (Loops.often(*L.getHeader(), nullptr) * Loops.assumed(L));
  }

  /// Sums up a round that only goes through these blocks.
  Gain ofSkip(ArrayRef<const BasicBlock *> Blocks, const Loop &L,
              Rounds &Loops) {
    Gain Ret{-COSY_LOSS_ROUND, 0};
    for (const BasicBlock *BB : Blocks)
      Ret = Ret + ofBlock(*BB, &L, Loops);
    return Ret;
  }

  /// Sums up what is lost on average in one round, inner loops apart; 0 for one
  /// that takes words.
  int64_t lostIn(const Loop &L, LoopAnalyses &A) {
    if (isWidened(L))
      return 0;
    double Ret = Memory.lossOfIteration(L);
    const BasicBlock *Latch = L.getLoopLatch();
    double All = A.frequency(Latch ? *Latch : *L.getHeader());
    for (const BasicBlock *BB : L.blocks())
      if (A.LI.getLoopFor(BB) == &L)
        for (const Instruction &I : *BB)
          Ret -= ofInstruction(I).Saved *
                 (All > 0 ? std::min(A.frequency(*BB) / All, 1.0) : 1);
    return std::max<int64_t>(rounded(Ret), 1);
  }

  /// Returns what a call saves on average.
  int64_t savedBy(const CallBase &Call) {
    return rounded(ofInstruction(Call).Saved);
  }

  /// Returns how many system calls it makes on average, in parts.
  int64_t madeBy(const CallBase &Call) {
    return inParts(ofInstruction(Call).Number);
  }

  /// Sums up one round, without inner loops whose rounds are counted.
  Gain ofRound(const Loop &L, Rounds &Loops) {
    Gain Ret;
    Ret.Saved = Ret.Best = -COSY_LOSS_ROUND;
    for (const BasicBlock *BB : L.blocks())
      Ret = Ret + ofBlock(*BB, &L, Loops);
    return bounded(Ret);
  }

  /// Returns what a round of a loop loses on average outside of inner loops and
  /// of Call, which may be null, and of what calls save.
  int64_t lostAround(const Loop &L, const CallBase *Call, Rounds &Loops) {
    double Lost = COSY_LOSS_ROUND;
    for (const BasicBlock *BB : L.blocks())
      if (Loops.LI.getLoopFor(BB) == &L)
        for (const Instruction &I : *BB)
          if (double Saved = ofInstruction(I).Saved; Saved < 0 && &I != Call)
            Lost -= Saved * Loops.often(*BB, &L);
    return rounded(Lost);
  }

private:
  /// Sums up a block, for each round of the loop or each entry of the function.
  /// The losses of an inner loop count for every assumed round, its calls once.
  Gain ofBlock(const BasicBlock &BB, const Loop *Around, Rounds &Loops) {
    int64_t Times = 1, Sure = 1;
    for (const Loop *L = Loops.LI.getLoopFor(&BB); L != Around;
         L = L->getParentLoop()) {
      if (Loops.areCounted(*L) || (Loops.CountLosses && Loops.countsLosses(*L)))
        return {};
      Times = std::min(Times * Loops.of(*L), MaxRounds);
      // Where calls are seldom, the rounds between them are many.
      if (Loops.areKnown(*L) || Loops.mayMakeCall(*L))
        Sure = std::min(Sure * Loops.of(*L), MaxRounds);
    }
    double Runs = Loops.often(BB, Around);
    const Loop *Own = Loops.LI.getLoopFor(&BB);
    Gain Each, Calls;
    for (const Instruction &I : BB) {
      Gain G = ofInstruction(I);
      G.Best = std::max(G.Best, G.Saved);
      (G.Saved > 0 ? Calls : Each) = (G.Saved > 0 ? Calls : Each) + G;
    }
    // Words need a few instructions more before the first and after the last.
    if (Own && isWidened(*Own)) {
      Gain Ret{0, (Calls.Plain + Each.Plain) * Runs * Times};
      if (Own->getHeader() == &BB)
        Ret.Saved = -COSY_LOSS_SHORT * Runs *
                    std::max<int64_t>(Times / Loops.of(*Own), 1);
      return Ret;
    }
    if (Own != Around && Own->getHeader() == &BB)
      Each.Saved -= Memory.lossOfIteration(*Own);
    Gain Ret = (Calls + Each * Times) * Runs;
    Ret.Best = Calls.Best + Each.Saved * Runs * Times;
    if (Each.Saved < 0)
      Ret.Guessed -= Each.Saved * Runs * (Times - Sure);
    return Ret;
  }

  static Gain lost(double Instructions) { return {-Instructions, 0}; }
  static Gain plain(double Instructions) { return {0, Instructions}; }

  Gain ofInstruction(const Instruction &I) {
    // A copy of a few constant bytes is a few loads and stores.
    if (const auto *Mem = dyn_cast<MemIntrinsic>(&I)) {
      const auto *Size = dyn_cast<ConstantInt>(Mem->getLength());
      int64_t Words =
          Size ? Size->getValue().getLimitedValue(MaxRounds) / 8 : MaxRounds;
      return lost(std::min<int64_t>(COSY_LOSS_SHORT,
                                    2 * COSY_LOSS_SHARED * (Words + 1)));
    }
    if (const auto *Call = dyn_cast<CallBase>(&I))
      return isa<IntrinsicInst>(I) ? Gain{} : ofCall(*Call);
    if (!getLoadStorePointerOperand(&I))
      return plain(1);
    return lost(Memory.lossOf(I)) + plain(1);
  }

  /// Returns which argument of a search is the length of what it searches, or
  /// nothing for one that ends at a NUL.
  static std::optional<unsigned> lengthOfSearch(StringRef Name) {
    if (Name == "memchr" || Name == "memrchr")
      return 2;
    return Name == "memmem" ? std::optional(1u) : std::nullopt;
  }

  /// True for a search for the end of a line, which mostly is near.
  static bool isForLine(const CallBase &Call, StringRef Name) {
    const auto *Byte = Name == "memchr" || Name == "rawmemchr"
                           ? dyn_cast<ConstantInt>(Call.getArgOperand(1))
                           : nullptr;
    return Byte && Byte->getZExtValue() == '\n';
  }

  static Gain ofOperation(const CallBase &Call, StringRef Name) {
    // It compares a few places besides, but the C library's is slow as well.
    if (Name == "strstr")
      return lost(2 * COSY_LOSS_STRING);
    if (isForLine(Call, Name))
      return lost(COSY_LOSS_STRING + COSY_LOSS_SHORT);
    if (!is_contained({"memchr", "memrchr", "memmem", "rawmemchr"}, Name))
      return lost(isExpandedInPlace(Name) ? COSY_LOSS_SHORT : COSY_LOSS_STRING);
    constexpr int64_t OfPage = COSY_LOSS_SEARCH - COSY_LOSS_STRING;
    int64_t Searched = OfPage;
    bool IsKnown = false;
    if (std::optional<unsigned> Argument = lengthOfSearch(Name)) {
      const Value *Length = Call.getArgOperand(*Argument);
      uint64_t Most = computeConstantRange(Length, /*ForSigned=*/false)
                          .getUnsignedMax()
                          .getLimitedValue(MaxRounds);
      Searched = std::min<int64_t>(OfPage, Most / 2);
      IsKnown = isa<ConstantInt>(Length);
    }
    Gain Ret = lost(COSY_LOSS_STRING + Searched);
    if (!IsKnown && Searched == OfPage)
      Ret.Guessed = Searched;
    return Ret;
  }

  /// True for strtol, atoi and their like, by any of their names.
  static bool readsNumber(StringRef Name) {
    Name.consume_front("__isoc23_");
    return Name.starts_with("strto")
               ? !Name.starts_with("strtok")
               : is_contained({"atoi", "atol", "atoll"}, Name);
  }

  /// For a function of libc's that is no operation: it may have a body in
  /// runtime/.
  static Gain ofBody(StringRef Name) {
    // Most strings that differ do so in their first bytes, and most numbers
    // have few digits.
    if (Name == "strcasecmp" || Name == "strncasecmp" || readsNumber(Name))
      return lost(COSY_LOSS_SHORT);
    if (isComputed(Name))
      return isInRuntime(Name) ? lost(COSY_LOSS_STRING) : plain(1);
    std::optional<uint64_t> Number = runtimeCall(Name);
    return Number ? ofOneCall(*Number) : plain(COSY_PLAIN_CALL);
  }

  Gain ofCall(const CallBase &Call) {
    const Function *F = Call.getCalledFunction();
    if (!F)
      return isByPointer(Call) ? lost(COSY_LOSS_CALL_OUT) : Gain{};
    if (!F->isDeclaration())
      return ofFunction(*F);
    if (F->getName() == "syscall" && Call.arg_size())
      if (const auto *Number = dyn_cast<ConstantInt>(Call.getArgOperand(0)))
        return ofSystemCall(Number->getZExtValue(), Call, 1);
    if (isFormat(Call))
      return lost(COSY_LOSS_STRING) + plain(COSY_PLAIN_FORMAT);
    if (isCostlyCallOut(Call))
      return lost(COSY_LOSS_CALL_OUT) + plain(COSY_PLAIN_CALL);
    const Wrapper *W = findWrapper(F->getName());
    if (!W)
      return ofBody(F->getName());
    if (!W->MakesCalls)
      return ofOperation(Call, F->getName());
    if (W->Number < COSY_OP_BASE)
      return ofSystemCall(W->Number, Call, 0);
    CompositeUnit Unit = unitOf(W->Number);
    return ofComposite(W->Number) +
           (Unit.IsFound ? ofUnit(Unit) * AssumedFound : Gain());
  }

  /// First: where the call's own arguments begin.
  static Gain ofSystemCall(uint64_t Number, const CallBase &Call,
                           unsigned First) {
    Gain Ret = ofOneCall(Number);
    if (isOpen(Number) &&
        opensOtherwise(Call, First + (Number == SYS_openat ? 2 : 1)))
      Ret = ofOrdinaryOpen();
    if ((Number == SYS_write || Number == SYS_pwrite64) &&
        Call.arg_size() > First + 1 &&
        !isInBuffer(Call.getArgOperand(First + 1)))
      Ret.Saved = Ret.Calls = COSY_GAIN_WRITE_ELSEWHERE;
    return Ret;
  }

  /// True if the flags of an open, argument `Index`, are none of those that the
  /// specialised version serves: kmod/fast/open.h.
  static bool opensOtherwise(const CallBase &Call, unsigned Index) {
    const auto *Flags = Call.arg_size() > Index
                            ? dyn_cast<ConstantInt>(Call.getArgOperand(Index))
                            : nullptr;
    return Flags && (Flags->getZExtValue() & (O_CREAT | O_TRUNC | O_PATH |
                                              O_NOATIME | O_DIRECT | O_SYNC));
  }

  /// True if memory may be in the shared buffer: a local of the region or its
  /// host, which moves there, or, in a file that allocates there, any memory
  /// whose origin is not known.
  static bool isInBuffer(const Value *Pointer) {
    SmallVector<const Value *, 4> Objects;
    getUnderlyingObjects(Pointer, Objects);
    return all_of(Objects, [](const Value *V) {
      if (const auto *A = dyn_cast<Argument>(V))
        if (const CallBase *Call = onlyCall(*A->getParent()))
          if (isa<AllocaInst>(
                  getUnderlyingObject(Call->getArgOperand(A->getArgNo()))))
            return true;
      if (isa<AllocaInst>(V))
        return true;
      return !isa<Constant>(V) && allocatesInBuffer(*moduleOf(*V));
    });
  }

  static const CallBase *onlyCall(const Function &F) {
    const auto *Call =
        F.hasOneUse() ? dyn_cast<CallBase>(F.user_back()) : nullptr;
    return Call && Call->getCalledFunction() == &F ? Call : nullptr;
  }

  static const Module *moduleOf(const Value &V) {
    if (const auto *A = dyn_cast<Argument>(&V))
      return A->getParent()->getParent();
    return cast<Instruction>(V).getModule();
  }
};
} // namespace

/// Returns struct cosy_region's `share`.  core/costs.h tells how much code may
/// run outside before the region is loaded; here that becomes how much would
/// have been saved, by the part of the code's cost that the kernel saves.
static unsigned shareOf(Gain All) {
  double Share = All.Plain > 0 ? COSY_TIER_SHARE * All.Saved / All.Plain : 1;
  return std::clamp<double>(Share, 1, COSY_TIER_SHARE);
}

/// Returns what is lost around each call.  More than a call can save is what
/// loops may lose that are supposed to go round for very long.
static unsigned lostPerCall(Gain All) {
  if (All.Number <= 0)
    return 0;
  return std::clamp<double>((All.Calls - All.Saved) / All.Number, 0,
                            COSY_GAIN_PATH);
}

/// True if a way into the kernel in L is at a call, not at L's head.
static bool isAtCall(const BasicBlock *WayIn, const Loop &L) {
  return WayIn != L.getHeader();
}

/// Returns how many times what the estimate says loops lose at most that make
/// each load alone.
static unsigned lossUnfetched(Estimate &E, const Recursion &In, Rounds &Loops) {
  Estimate Alone(In);
  double Most = 1;
  for (const Loop *L : Loops.LI.getLoopsInPreorder())
    if (Loops.countsLosses(*L))
      for (const Loop *Each : L->getLoopsInPreorder())
        if (int64_t Lost = E.lostIn(*Each, Loops))
          Most = std::max(Most, double(Alone.lostIn(*Each, Loops)) / Lost);
  return std::min<double>(std::ceil(Most), COSY_PREMISE_UNFETCHED_MAX);
}

void cosy::estimateGain(const Function &Body, ArrayRef<BasicBlock *> WaysIn,
                        const Recursion &In, RegionCost &Ret) {
  Estimate E(In);
  Rounds Loops(const_cast<Function &>(Body), In);
  E.Memory.findFetches(Loops, /*InLoopsOnly=*/true);
  Gain Entry = E.ofEntry(Body, Loops), All;
  SmallSetVector<const Loop *, 4> Entered;
  bool AnySaves = false;
  for (BasicBlock *WayIn : WaysIn) {
    const Loop &L = *Loops.LI.getLoopFor(WayIn);
    Entered.insert(&L);
    Gain Round = E.ofRound(L, Loops);
    Ret.Rounds.push_back(rounded(Round.Saved));
    Ret.RoundCalls.push_back(inParts(Round.Number));
    bool AtCall = isAtCall(WayIn, L);
    const auto &Skipped = Loops.counts(L).Skipped;
    Ret.Skips.push_back(
        AtCall || !Skipped || Skipped->empty()
            ? 0
            : std::min<int64_t>(rounded(E.ofSkip(*Skipped, L, Loops).Saved),
                                0));
    Ret.Around.push_back(
        AtCall ? E.lostAround(L, Loops.firstCall(*WayIn), Loops) : 0);
    AnySaves |= Round.Saved > 0 || Round.Best > 0;
    All = All + Round * AssumedRounds;
  }
  for (const Loop *L : Loops.LI.getLoopsInPreorder()) {
    if (Entered.contains(L) || !Loops.areCounted(*L))
      continue;
    // Without a way in, its rounds count for the entry.
    bool AddsUp =
        Loops.counts(*L).AddsUp &&
        any_of(Entered, [&](const Loop *In) { return L->contains(In); });
    (AddsUp ? All : Entry) = (AddsUp ? All : Entry) + E.ofAssumed(*L, Loops);
    if (AddsUp)
      Ret.Outer.push_back({L->getHeader(), E.lostAround(*L, nullptr, Loops)});
  }
  // Nor does what an entry loses by guess outweigh the loops that call.
  double Least = -std::max(All.Saved, 0.0) / 2;
  if (AnySaves && Entry.Saved < Least)
    Entry.Saved = std::min(Entry.Saved + Entry.Guessed, Least);
  Ret.All = Entry + All;
  Ret.EntryCalls = inParts(Entry.Number);
  Ret.Entry = rounded(Entry.Saved) - COSY_COST_RUN;
  // A path that is seldom taken is counted where it is: it may be taken often.
  Ret.Loses = !AnySaves && std::max(Entry.Saved, Entry.Best) <= COSY_COST_RUN;
  Ret.Share = shareOf(Ret.All);
  Ret.Lost = lostPerCall(Ret.All);
  Ret.Unfetched = lossUnfetched(E, In, Loops);
}

/// True if each round of L that makes some call makes this one.
static bool isInEachRound(const CallBase &Call, const Loop &L,
                          LoopAnalyses &A) {
  const BasicBlock *BB = Call.getParent(), *Latch = L.getLoopLatch();
  if (!Latch || A.DT.dominates(BB, Latch))
    return true;
  return all_of(L.blocks(), [&](const BasicBlock *Other) {
    return A.LI.getLoopFor(Other) != &L || !A.mayMakeCall(*Other) ||
           A.DT.dominates(BB, Other);
  });
}

/// True if each call of F that returns makes this one.
static bool isInEachCall(const CallBase &Call, const Function &F,
                         LoopAnalyses &A) {
  return all_of(F, [&](const BasicBlock &BB) {
    return !isa<ReturnInst>(BB.getTerminator()) ||
           A.DT.dominates(Call.getParent(), &BB);
  });
}

/// Has what a composite saves for each unit be counted once its result says how
/// many it found.  Returns what it is assumed to save for them.
static int64_t countFound(CallBase &Call, SmallVectorImpl<SeldomCall> &Ret) {
  const Function *F = Call.getCalledFunction();
  const Wrapper *W =
      F && F->isDeclaration() ? findWrapper(F->getName()) : nullptr;
  CompositeUnit Unit = W ? unitOf(W->Number) : CompositeUnit();
  if (!Unit.IsFound || isa<InvokeInst>(Call))
    return 0;
  double Each = ofUnit(Unit).Saved;
  Ret.push_back({Call.getNextNode(), 0, nullptr, &Call,
                 unsigned(rounded(Each / Unit.Result))});
  return rounded(Each * AssumedFound);
}

/// Returns in which part of the rounds of L a call is made, if each of these
/// makes the same one.
static double partWithCall(const Loop &L, Rounds &A) {
  for (BasicBlock *BB : L.blocks())
    if (A.LI.getLoopFor(BB) == &L)
      if (CallBase *Call = A.firstCall(*BB);
          Call && isInEachRound(*Call, L, A) && A.often(*BB, &L) > 0)
        return A.often(*BB, &L);
  return 1;
}

SmallVector<SeldomCall, 4> cosy::findSeldomCalls(Function &Body,
                                                 ArrayRef<BasicBlock *> WaysIn,
                                                 const Recursion &In,
                                                 RegionCost &Cost) {
  SmallVector<SeldomCall, 4> Ret;
  Rounds A(Body, In);
  Estimate E(In);
  Cost.SureEntry = Cost.Entry;
  Cost.SureRounds = Cost.Rounds;
  DenseMap<const Loop *, size_t> Ways;
  // Rounds without a call are counted apart, so those with one count alone.
  SmallVector<double, 4> Parts;
  for (size_t I = 0; I < WaysIn.size(); ++I) {
    const Loop &L = *A.LI.getLoopFor(WaysIn[I]);
    Ways[&L] = I;
    const auto &Skipped = A.counts(L).Skipped;
    Parts.push_back(Skipped && !Skipped->empty() ? partWithCall(L, A) : 1);
    Cost.SureRounds[I] =
        rounded((Cost.Rounds[I] - (1 - Parts[I]) * Cost.Skips[I]) / Parts[I]);
    Cost.RoundCalls[I] = rounded(Cost.RoundCalls[I] / Parts[I]);
  }
  for (BasicBlock &BB : Body) {
    const Loop *L = A.LI.getLoopFor(&BB);
    if (L && !Ways.contains(L))
      continue;
    size_t Way = L ? Ways[L] : 0;
    bool AtCall = L && isAtCall(WaysIn[Way], *L);
    double Often = A.often(BB, L) / (L ? Parts[Way] : 1);
    for (Instruction &I : BB) {
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call || A.Calls.in(I) != Makes::Always)
        continue;
      // This is where a round is counted.
      bool CountsRound =
          AtCall && &BB == WaysIn[Way] && Call == A.firstCall(BB);
      int64_t Saves = E.savedBy(*Call), Made = E.madeBy(*Call);
      if (Saves <= 0 && !CountsRound)
        continue;
      if (int64_t Assumed = countFound(*Call, Ret)) {
        Saves -= Assumed;
        if (!AtCall)
          (L ? Cost.SureRounds[Way] : Cost.SureEntry) -=
              rounded(Assumed * Often);
      }
      if (CountsRound) {
        Cost.SureRounds[Way] = Saves;
        Cost.RoundCalls[Way] = Made;
        continue;
      }
      if (!AtCall &&
          (L ? isInEachRound(*Call, *L, A) : isInEachCall(*Call, Body, A)))
        continue;
      if (!AtCall) {
        (L ? Cost.SureRounds[Way] : Cost.SureEntry) -= rounded(Saves * Often);
        (L ? Cost.RoundCalls[Way] : Cost.EntryCalls) -= rounded(Made * Often);
      }
      Ret.push_back({Call, Saves, nullptr, nullptr, 0, Made});
    }
  }
  return Ret;
}

DenseMap<const Loop *, int64_t>
cosy::lossesPerRound(ArrayRef<const Loop *> Loops, LoopAnalyses &A) {
  Recursion None;
  Estimate E(None);
  E.Memory.findFetches(A, /*InLoopsOnly=*/true);
  DenseMap<const Loop *, int64_t> Ret;
  for (const Loop *L : Loops)
    Ret[L] = E.lostIn(*L, A);
  return Ret;
}

void cosy::addCost(RegionCost &Whole, const RegionCost &Cost, bool IsEntered) {
  Whole.All = Whole.All + Cost.All;
  Whole.Share = shareOf(Whole.All);
  Whole.Unfetched = std::max(Whole.Unfetched, Cost.Unfetched);
  Whole.Rounds.append(Cost.Rounds);
  // As in a region itself, a call on a conditional path counts where it is
  // made.
  Whole.Loses &= Cost.Loses;
  for (int64_t Round : Cost.Rounds)
    Whole.Loses &= Round <= 0;
  if (!IsEntered)
    return;
  Whole.Calls.push_back(Cost.Entry + COSY_COST_RUN);
  Whole.Loses &= Whole.Calls.back() <= 0;
}
