// SPDX-License-Identifier: MIT
//===- Widen.cpp - Loops over bytes take a word at once -------------------===//
//
// BPF has no vectors, so a loop over bytes costs a load and a test for each of
// them, where natively SSE takes sixteen at once.  Eight bytes fit a register.
// A loop that looks for a byte, compares, counts or adds up gets another loop
// above it, which takes words as long as no byte of one ends the search:
//
// clang-format off
//   before:  bytes:  c = load p
//                    if c == k goto end
//                    p = p + 1
//                    goto bytes
//
//   after:   words:  w = load p, eight bytes
//                    z = bytes of (w ^ kkkkkkkk) that are 0
//                    if z goto bytes, at the first of them
//                    p = p + 8
//                    if eight iterations remain goto words
//            bytes:  as before, from p on
// clang-format on
//
// The loop over bytes stays as it is and does what remains, so this stage only
// has to find the iterations that end nothing and store nothing.
//
// A word may have bytes that the program would not have come to.  They are in
// the object, if that is known, or else in a page with a byte that it comes to
// now; a word that would cross into the next page is left to the bytes.
//
//===----------------------------------------------------------------------===//
#include "lower/Widen.h"
#include "lower/BpfModule.h"
#include "lower/Buffers.h"
#include "lower/Compound.h"
#include "lower/Optimize.h"
#include "region/Extracted.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#define DEBUG_TYPE "cosy-widen-loops"

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumWidened, "Number of loops that take words");

static constexpr uint64_t WordBytes = 8, PageBytes = 4096;
static constexpr uint64_t Ones = 0x0101010101010101, Highs = Ones << 7;
static constexpr uint64_t Evens = 0x00ff00ff00ff00ff, EvenOnes = Ones & Evens;

/// Words at once, which Unroll.cpp is asked for.  With so many, the test and
/// the step are a small part.
static constexpr uint32_t WordsAtOnce = 4;

/// A loop of fewer iterations gains nothing.
static constexpr uint64_t MinIterations = 16;

namespace {
/// A branch out of the loop that only bytes decide.
struct ByteTest {
  BasicBlock *Block;
  Value *Condition;
  bool Leaves; ///< The value of Condition with which the loop is left.
};

/// A sum over the iterations, of bytes or of how many of them are equal.
struct Sum {
  PHINode *Phi;
  Value *Added;
};

/// A loop over bytes: what it does in an iteration, and whether that can be
/// done for eight bytes at once.
class ByteLoop {
  Loop &L;
  ScalarEvolution &SE;

public:
  SmallVector<BasicBlock *, 4> Chain; ///< The blocks of an iteration, in order.
  SmallVector<PHINode *, 4> Inductions;
  SmallVector<Sum, 2> Sums;
  SmallVector<ByteTest, 2> Tests;
  const SCEV *Count = nullptr; ///< Iterations, without the one that exits.

  ByteLoop(Loop &L, ScalarEvolution &SE) : L(L), SE(SE) {}

  bool analyze() {
    if (!L.isInnermost() || !L.getLoopPreheader() || !L.getLoopLatch() ||
        hasUnrollTransformation(&L) & TM_Disable || !findChain() ||
        !all_of(L.getHeader()->phis(),
                [&](PHINode &Phi) { return findPhi(Phi); }) ||
        !all_of(Chain, [&](BasicBlock *BB) { return findExit(BB); }))
      return false;
    if (Tests.empty())
      return Count && !Sums.empty();
    return Sums.empty();
  }

  /// Returns the address that a load has in the first iteration.
  const SCEV *startOf(LoadInst *Load) const {
    return cast<SCEVAddRecExpr>(SE.getSCEV(Load->getPointerOperand()))
        ->getStart();
  }

  /// Adds the loads that a byte, a test or what is added is made of.
  void collectLoads(Value *V, SmallSetVector<LoadInst *, 4> &Loads) const {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !L.contains(I))
      return;
    if (auto *Load = dyn_cast<LoadInst>(I))
      Loads.insert(Load);
    else
      for (Value *Operand : I->operands())
        collectLoads(Operand, Loads);
  }

private:
  /// True for a load of a byte; the next iteration loads the next byte.
  bool isByteLoad(Instruction &I) const {
    auto *Load = dyn_cast<LoadInst>(&I);
    if (!Load || !Load->isSimple() || !Load->getType()->isIntegerTy(8) ||
        Load->getPointerAddressSpace())
      return false;
    auto *Place =
        dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Load->getPointerOperand()));
    return Place && Place->getLoop() == &L && Place->isAffine() &&
           Place->getStepRecurrence(SE)->isOne();
  }

  /// True if only the result shows whether the instruction ran.
  bool isWithoutTrace(Instruction &I) const {
    if (isa<DbgInfoIntrinsic>(I))
      return true;
    return I.mayReadOrWriteMemory() ? isByteLoad(I) : !I.mayHaveSideEffects();
  }

  bool findChain() {
    BasicBlock *BB = L.getHeader();
    do {
      Chain.push_back(BB);
      if (Chain.size() > L.getNumBlocks() ||
          !isa<BranchInst>(BB->getTerminator()) ||
          !all_of(*BB, [&](Instruction &I) { return isWithoutTrace(I); }))
        return false;
      BasicBlock *Next = nullptr;
      for (BasicBlock *S : successors(BB))
        if (L.contains(S)) {
          if (Next)
            return false;
          Next = S;
        }
      BB = Next;
    } while (BB && BB != L.getHeader());
    return BB && Chain.size() == L.getNumBlocks();
  }

  bool findPhi(PHINode &Phi) {
    if (!SE.isSCEVable(Phi.getType()))
      return false;
    auto *Place = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(&Phi));
    if (Place && Place->getLoop() == &L && Place->isAffine() &&
        isa<SCEVConstant>(Place->getStepRecurrence(SE)) &&
        SE.getTypeSizeInBits(Phi.getType()) <= 64) {
      Inductions.push_back(&Phi);
      return true;
    }
    Value *Next = Phi.getIncomingValueForBlock(L.getLoopLatch()), *Added;
    if (!Phi.getType()->isIntegerTy() ||
        Phi.getType()->getIntegerBitWidth() > 64 || !Phi.hasOneUse() ||
        !match(Next, m_c_Add(m_Specific(&Phi), m_Value(Added))) ||
        !isAddend(Added) || any_of(Next->users(), [&](User *U) {
          return U != &Phi && L.contains(cast<Instruction>(U));
        }))
      return false;
    Sums.push_back({&Phi, Added});
    return true;
  }

  bool findExit(BasicBlock *BB) {
    auto *Branch = cast<BranchInst>(BB->getTerminator());
    if (!Branch->isConditional())
      return true;
    const SCEV *Exit = SE.getExitCount(&L, BB);
    if (!isa<SCEVCouldNotCompute>(Exit)) {
      if (Count || !Exit->getType()->isIntegerTy() ||
          SE.getTypeSizeInBits(Exit->getType()) > 64 ||
          SE.getUnsignedRangeMax(Exit).ult(MinIterations))
        return false;
      Count = Exit;
      return true;
    }
    bool Leaves = !L.contains(Branch->getSuccessor(0));
    if (!isTest(Branch->getCondition(), Leaves))
      return false;
    Tests.push_back({BB, Branch->getCondition(), Leaves});
    return true;
  }

  /// True for a byte as a wider number, beside one that stays the same.
  bool isExtended(Value *V, Value *Other) const {
    return L.isLoopInvariant(Other) && isa<ZExtInst, SExtInst>(V) &&
           L.contains(cast<Instruction>(V)) &&
           isByte(cast<Instruction>(V)->getOperand(0));
  }

  /// True for bytes that a word can have eight of.
  bool isByte(Value *V) const {
    if (!V->getType()->isIntegerTy(8))
      return false;
    if (L.isLoopInvariant(V))
      return true;
    auto *I = cast<Instruction>(V);
    return isByteLoad(*I) ||
           (I->isBitwiseLogicOp() && isByte(I->getOperand(0)) &&
            isByte(I->getOperand(1)));
  }

  bool isEquality(Value *V) const {
    auto *Compare = dyn_cast<ICmpInst>(V);
    if (!Compare || !L.contains(Compare) || !Compare->isEquality())
      return false;
    Value *A = Compare->getOperand(0), *B = Compare->getOperand(1);
    return (isByte(A) && isByte(B)) || isExtended(A, B) || isExtended(B, A);
  }

  bool isTest(Value *V, bool Leaves) const {
    Value *A, *B;
    if (Leaves ? match(V, m_LogicalOr(m_Value(A), m_Value(B)))
               : match(V, m_LogicalAnd(m_Value(A), m_Value(B))))
      return isTest(A, Leaves) && isTest(B, Leaves);
    return isEquality(V);
  }

  bool isAddend(Value *V) const {
    auto *Wide = dyn_cast<ZExtInst>(V);
    if (!Wide || !L.contains(Wide))
      return false;
    Value *From = Wide->getOperand(0);
    return From->getType()->isIntegerTy(1) ? isEquality(From) : isByte(From);
  }
};

/// Puts the loop over words above a loop over bytes.
class WordLoop {
  BpfModule &B;
  const Extracted &R;
  const Compound &C;
  Loop &L;
  ScalarEvolution &SE;
  const ByteLoop &Of;
  LLVMContext &Ctx;
  Function &F;
  SCEVExpander Expander;

  BasicBlock *Before;          ///< The loop's preheader.
  BasicBlock *Bytes;           ///< Leads into the loop over bytes.
  BasicBlock *Enter, *Words;   ///< Leads into the loop over words, its head.
  bool MayCross = false;       ///< Words may cross into another page.
  IRBuilder<> Outside, Inside; ///< At the end of Before; in Words.
  /// Iterations done: at Enter, Words and Bytes.
  PHINode *Entered, *Done, *Left;
  Value *Last = nullptr; ///< The last iteration at which a word may begin.
  SmallVector<PHINode *, 2> SumsInside, SumsLeft;
  DenseMap<LoadInst *, Value *> Loaded;
  DenseMap<LoadInst *, Value *> Expanded; ///< Addresses of their first bytes.
  DenseMap<LoadInst *, Value *> Starts;   ///< The same, hidden from LLVM.

public:
  WordLoop(BpfModule &B, const Extracted &R, const Compound &C, Loop &L,
           ScalarEvolution &SE, const ByteLoop &Of)
      : B(B), R(R), C(C), L(L), SE(SE), Of(Of),
        Ctx(L.getHeader()->getContext()), F(*L.getHeader()->getParent()),
        Expander(SE, B.M->getDataLayout(), "words"),
        Before(L.getLoopPreheader()), Outside(Before->getTerminator()),
        Inside(Ctx) {}

  bool emit() {
    Instruction *End = Before->getTerminator();
    if (Of.Count && !Expander.isSafeToExpandAt(Of.Count, End))
      return false;
    SmallVector<LoadInst *, 4> Loads;
    for (BasicBlock *BB : Of.Chain)
      for (Instruction &I : *BB)
        if (auto *Load = dyn_cast<LoadInst>(&I))
          Loads.push_back(Load);
    for (LoadInst *Load : Loads)
      if (!Expander.isSafeToExpandAt(Of.startOf(Load), End))
        return false;
    addStringMetadataToLoop(&L, "llvm.loop.unroll.disable", 1);
    DebugLoc Where = L.getStartLoc();
    Outside.SetCurrentDebugLocation(Where);
    Inside.SetCurrentDebugLocation(Where);
    // Before there are blocks without an end, which the expander may come to.
    for (LoadInst *Load : Loads)
      Expanded[Load] =
          Expander.expandCodeFor(Of.startOf(Load), Outside.getPtrTy(), End);
    emitEntry();
    emitWords();
    emitBytes();
    return true;
  }

private:
  Type *word() { return Inside.getInt64Ty(); }

  BasicBlock *newBlock(const Twine &Name) {
    return BasicBlock::Create(Ctx, Name, &F, Bytes);
  }

  /// Goes to the loop over bytes from the end of a block, after some iterations
  /// that gave these sums.
  void leaveWith(BasicBlock *From, Value *Iterations,
                 ArrayRef<Value *> Values) {
    Left->addIncoming(Iterations, From);
    for (auto [Phi, V] : zip_equal(SumsLeft, Values))
      Phi->addIncoming(V, From);
  }

  SmallVector<Value *, 2> sumsBefore() {
    SmallVector<Value *, 2> Ret;
    for (const Sum &S : Of.Sums)
      Ret.push_back(S.Phi->getIncomingValueForBlock(Bytes));
    return Ret;
  }

  SmallVector<Value *, 2> sumsInside() {
    return SmallVector<Value *, 2>(SumsInside.begin(), SumsInside.end());
  }

  void emitEntry() {
    Instruction *End = Before->getTerminator();
    Value *Count = nullptr;
    if (Of.Count) {
      Count = Expander.expandCodeFor(Of.Count, Of.Count->getType(), End);
      // The count may be poison if the first iteration leaves before its test.
      Count = Outside.CreateZExt(Outside.CreateFreeze(Count), word());
      Last = Outside.CreateSub(Count, Outside.getInt64(WordBytes));
    }
    Bytes = SplitEdge(Before, L.getHeader());
    Bytes->setName("bytes");
    Enter = newBlock("words.enter");
    Words = newBlock("words");

    IRBuilder<> IB(Bytes, Bytes->begin());
    Left = IB.CreatePHI(word(), 4, "iterations");
    for (const Sum &S : Of.Sums)
      SumsLeft.push_back(IB.CreatePHI(S.Phi->getType(), 2));

    End = Before->getTerminator();
    Outside.SetInsertPoint(End);
    if (Count) {
      Outside.CreateCondBr(
          Outside.CreateICmpUGE(Count, Outside.getInt64(WordBytes)), Enter,
          Bytes);
      leaveWith(Before, Outside.getInt64(0), sumsBefore());
    } else {
      Outside.CreateBr(Enter);
    }
    End->eraseFromParent();
    Outside.SetInsertPoint(Before->getTerminator());

    Inside.SetInsertPoint(Enter);
    Entered = Inside.CreatePHI(word(), 2);
    Entered->addIncoming(Inside.getInt64(0), Before);
    if (Last) {
      Inside.CreateCondBr(Inside.CreateICmpULE(Entered, Last), Words, Bytes);
      leaveWith(Enter, Entered, sumsBefore());
    } else {
      Inside.CreateBr(Words);
    }
  }

  void emitWords() {
    Inside.SetInsertPoint(Words);
    Done = Inside.CreatePHI(word(), 2, "iteration");
    Done->addIncoming(Entered, Enter);
    for (auto [S, V] : zip_equal(Of.Sums, sumsBefore())) {
      SumsInside.push_back(Inside.CreatePHI(S.Phi->getType(), 2));
      SumsInside.back()->addIncoming(V, Enter);
    }
    for (const ByteTest &T : Of.Tests)
      emitTest(T);
    SmallVector<Value *, 2> Next;
    for (auto [S, Phi] : zip_equal(Of.Sums, SumsInside)) {
      loadWords(S.Added);
      Next.push_back(Inside.CreateAdd(
          Phi,
          Inside.CreateZExtOrTrunc(
              addUp(cast<ZExtInst>(S.Added)->getOperand(0)), Phi->getType())));
    }
    Value *DoneNext = Inside.CreateAdd(Done, Inside.getInt64(WordBytes));
    BasicBlock *End = Inside.GetInsertBlock();
    if (Last) {
      Inside.CreateCondBr(Inside.CreateICmpULE(DoneNext, Last), Words, Bytes);
      leaveWith(End, DoneNext, Next);
    } else {
      Inside.CreateBr(Words);
    }
    End->getTerminator()->setMetadata(LLVMContext::MD_loop, unrollCount());
    Done->addIncoming(DoneNext, End);
    for (auto [Phi, V] : zip_equal(SumsInside, Next))
      Phi->addIncoming(V, End);
  }

  /// Tells cosy-unroll-loops how many words to take at once.
  MDNode *unrollCount() {
    Metadata *Count[] = {MDString::get(Ctx, "llvm.loop.unroll.count"),
                         ConstantAsMetadata::get(Inside.getInt32(WordsAtOnce))};
    MDNode *Id = MDNode::getDistinct(Ctx, {nullptr, MDNode::get(Ctx, Count)});
    Id->replaceOperandWith(0, Id);
    return Id;
  }

  /// Has the values of the loop over bytes begin as they are after Left
  /// iterations.
  void emitBytes() {
    IRBuilder<> IB(Bytes->getTerminator());
    for (PHINode *Phi : Of.Inductions) {
      auto *Place = cast<SCEVAddRecExpr>(SE.getSCEV(Phi));
      auto *Step = cast<SCEVConstant>(Place->getStepRecurrence(SE))->getValue();
      Value *Start = Phi->getIncomingValueForBlock(Bytes);
      Value *Distance =
          IB.CreateMul(IB.CreateZExtOrTrunc(Left, Step->getType()), Step);
      Phi->setIncomingValueForBlock(
          Bytes, Start->getType()->isPointerTy()
                     ? IB.CreateGEP(IB.getInt8Ty(), Start, Distance)
                     : IB.CreateAdd(Start, Distance));
    }
    for (auto [S, Phi] : zip_equal(Of.Sums, SumsLeft))
      S.Phi->setIncomingValueForBlock(Bytes, Phi);
    if (MayCross)
      emitAgain();
  }

  /// Tries words again after at most eight iterations over bytes: those of a
  /// word that would have crossed into another page.
  void emitAgain() {
    BasicBlock *Head = L.getHeader();
    MDNode *Id = L.getLoopID();
    BasicBlock *Again = SplitEdge(L.getLoopLatch(), Head);
    IRBuilder<> HB(Head, Head->begin()), IB(Again->getTerminator());
    PHINode *DoneBytes = HB.CreatePHI(word(), 2);
    Value *Next = IB.CreateAdd(DoneBytes, IB.getInt64(1));
    Value *IsNext = IB.CreateICmpEQ(
        IB.CreateAnd(Next, IB.getInt64(WordBytes - 1)), IB.getInt64(0));
    Instruction *End = Again->getTerminator();
    IB.CreateCondBr(IsNext, Enter, Head)->setMetadata(LLVMContext::MD_loop, Id);
    End->eraseFromParent();
    DoneBytes->addIncoming(Left, Bytes);
    DoneBytes->addIncoming(Next, Again);
    Entered->addIncoming(Next, Again);
  }

  //===--------------------------------------------------------------------===//
  // Words
  //===--------------------------------------------------------------------===//

  /// Goes to the loop over bytes if the condition holds.
  void leaveIf(Value *Condition, Value *Iterations) {
    BasicBlock *Next = newBlock("words.next");
    Inside.CreateCondBr(Condition, Bytes, Next);
    leaveWith(Inside.GetInsertBlock(), Iterations, sumsInside());
    Inside.SetInsertPoint(Next);
  }

  /// True if all bytes that a word may have are the object's.
  bool isWithin(LoadInst *Load) const {
    const SCEV *Start = Of.startOf(Load);
    auto *Base = dyn_cast<SCEVUnknown>(SE.getPointerBase(Start));
    if (!Base || !Of.Count)
      return false;
    auto *Offset = dyn_cast<SCEVConstant>(
        SE.getMinusSCEV(Start, SE.getPointerBase(Start)));
    Buffer Buf = bufferOf(B, R, C, Base->getValue());
    if (!Offset || !is_contained(Buf.Roots, Base->getValue()))
      return false;
    uint64_t From = Offset->getAPInt().getLimitedValue(),
             Most = SE.getUnsignedRangeMax(Of.Count).getLimitedValue();
    return From <= Buf.Size && Most <= Buf.Size - From;
  }

  /// Returns where the first word is.  A pointer that is only compared with
  /// page bounds is hidden from LLVM, which knows the object's.
  Value *startOf(LoadInst *Load, bool Within) {
    Value *&Start = Starts[Load];
    if (Start)
      return Start;
    Start = Expanded.lookup(Load);
    if (Within)
      return Start;
    Type *Ty = Start->getType();
    auto *Hide = InlineAsm::get(FunctionType::get(Ty, {Ty}, false), "", "=r,0",
                                /*hasSideEffects=*/false);
    return Start = Outside.CreateCall(Hide, {Start});
  }

  /// Loads the words of the bytes that a value of the loop is computed from.
  void loadWords(Value *V) {
    SmallSetVector<LoadInst *, 4> Loads;
    Of.collectLoads(V, Loads);
    for (LoadInst *Load : Loads) {
      if (Loaded.count(Load))
        continue;
      // Without tests all of the bytes are loaded anyway.
      bool Within = Of.Tests.empty() || isWithin(Load);
      Value *At =
          Inside.CreateGEP(Inside.getInt8Ty(), startOf(Load, Within), Done);
      if (!Within) {
        Value *InPage = Inside.CreateAnd(Inside.CreatePtrToInt(At, word()),
                                         Inside.getInt64(PageBytes - 1));
        leaveIf(Inside.CreateICmpUGT(InPage,
                                     Inside.getInt64(PageBytes - WordBytes)),
                Done);
        MayCross = true;
      }
      Loaded[Load] = Inside.CreateAlignedLoad(word(), At, Align(1));
    }
  }

  /// Returns a word of which each byte is this one.
  Value *splat(Value *Byte) {
    return Outside.CreateMul(Outside.CreateZExt(Byte, word()),
                             Outside.getInt64(Ones));
  }

  /// Returns a word with the byte V of eight iterations.
  Value *bytesOf(Value *V) {
    if (L.isLoopInvariant(V))
      return splat(V);
    if (auto *Load = dyn_cast<LoadInst>(V))
      return Loaded[Load];
    auto *I = cast<BinaryOperator>(V);
    return Inside.CreateBinOp(I->getOpcode(), bytesOf(I->getOperand(0)),
                              bytesOf(I->getOperand(1)));
  }

  /// Returns 0 in the bytes of those iterations that compare equal values.
  Value *differences(ICmpInst *Compare) {
    Value *A = Compare->getOperand(0), *B = Compare->getOperand(1);
    if (A->getType()->isIntegerTy(8))
      return Inside.CreateXor(bytesOf(A), bytesOf(B));
    if (L.isLoopInvariant(A))
      std::swap(A, B);
    // A number that is no such byte differs from all of them.
    auto *Extended = cast<CastInst>(A);
    Value *Byte = Outside.CreateTrunc(B, Outside.getInt8Ty());
    Value *IsByte = Outside.CreateICmpEQ(
        Outside.CreateCast(Extended->getOpcode(), Byte, B->getType()), B);
    return Inside.CreateOr(
        Inside.CreateXor(bytesOf(Extended->getOperand(0)), splat(Byte)),
        Outside.CreateSelect(IsByte, Outside.getInt64(0),
                             Outside.getInt64(Ones)));
  }

  /// Returns bits in the bytes of those iterations that leave.  They are exact
  /// up to the first such byte.
  Value *leaving(Value *Condition, bool Leaves) {
    Value *A, *B;
    if (Leaves ? match(Condition, m_LogicalOr(m_Value(A), m_Value(B)))
               : match(Condition, m_LogicalAnd(m_Value(A), m_Value(B))))
      return Inside.CreateOr(leaving(A, Leaves), leaving(B, Leaves));
    auto *Compare = cast<ICmpInst>(Condition);
    Value *X = differences(Compare);
    if ((Compare->getPredicate() == ICmpInst::ICMP_NE) == Leaves)
      return X;
    return Inside.CreateAnd(
        Inside.CreateAnd(Inside.CreateSub(X, Inside.getInt64(Ones)),
                         Inside.CreateNot(X)),
        Inside.getInt64(Highs));
  }

  void emitTest(const ByteTest &T) {
    loadWords(T.Condition);
    Value *Bits = leaving(T.Condition, T.Leaves);
    Value *Leaves = Inside.CreateICmpNE(Bits, Inside.getInt64(0));
    // If there are more tests, another one may leave in an earlier iteration.
    if (Of.Tests.size() > 1)
      return leaveIf(Leaves, Done);
    BasicBlock *Found = newBlock("words.found"), *Next = newBlock("words.next");
    Inside.CreateCondBr(Leaves, Found, Next);
    Inside.SetInsertPoint(Found);
    Value *Lowest = Inside.CreateAnd(Bits, Inside.CreateNeg(Bits));
    Value *Below = Inside.CreateAnd(
        Inside.CreateSub(Lowest, Inside.getInt64(1)), Inside.getInt64(Highs));
    Value *Index = Inside.CreateLShr(
        Inside.CreateMul(Inside.CreateLShr(Below, 7), Inside.getInt64(Ones)),
        56);
    Value *Iterations = Inside.CreateAdd(Done, Index);
    Inside.CreateBr(Bytes);
    leaveWith(Found, Iterations, sumsInside());
    Inside.SetInsertPoint(Next);
  }

  /// Returns the sum of a byte, or of a comparison, over eight iterations.
  Value *addUp(Value *V) {
    if (auto *Compare = dyn_cast<ICmpInst>(V)) {
      Value *X = differences(Compare), *Low = Inside.getInt64(~Highs);
      Value *Differ =
          Inside.CreateOr(Inside.CreateAdd(Inside.CreateAnd(X, Low), Low), X);
      if (Compare->getPredicate() == ICmpInst::ICMP_EQ)
        Differ = Inside.CreateNot(Differ);
      Value *Bits = Inside.CreateLShr(
          Inside.CreateAnd(Differ, Inside.getInt64(Highs)), 7);
      return Inside.CreateLShr(Inside.CreateMul(Bits, Inside.getInt64(Ones)),
                               56);
    }
    Value *X = bytesOf(V), *Mask = Inside.getInt64(Evens);
    Value *Pairs =
        Inside.CreateAdd(Inside.CreateAnd(X, Mask),
                         Inside.CreateAnd(Inside.CreateLShr(X, 8), Mask));
    return Inside.CreateLShr(Inside.CreateMul(Pairs, Inside.getInt64(EvenOnes)),
                             48);
  }
};

struct WidenLoops : PassInfoMixin<WidenLoops> {
  BpfModule &B;
  const Extracted &R;
  Compound &C;

  WidenLoops(BpfModule &B, const Extracted &R, Compound &C)
      : B(B), R(R), C(C) {}

  /// Widens the first loop that can be and is not in Seen.
  bool widenOne(Function &F, FunctionAnalysisManager &FAM,
                SmallPtrSetImpl<BasicBlock *> &Seen) {
    auto &LI = FAM.getResult<LoopAnalysis>(F);
    auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
    for (Loop *L : LI.getLoopsInPreorder()) {
      ByteLoop Of(*L, SE);
      if (!Seen.insert(L->getHeader()).second || !Of.analyze())
        continue;
      DebugLoc Where = L->getStartLoc();
      if (!WordLoop(B, R, C, *L, SE, Of).emit())
        continue;
      C.Choices.push_back({true, "loop processes 8 bytes at once", Where});
      C.Widened.push_back(Where);
      ++NumWidened;
      return true;
    }
    return false;
  }

  PreservedAnalyses run(Function &F, FunctionAnalysisManager &FAM) {
    SmallPtrSet<BasicBlock *, 16> Seen;
    bool Widened = false;
    while (widenOne(F, FAM, Seen)) {
      Widened = true;
      FAM.invalidate(F, PreservedAnalyses::none());
    }
    return Widened ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
};
} // namespace

void cosy::widenLoops(BpfModule &B, const Extracted &R, Compound &C) {
  FunctionPassManager FPM;
  FPM.addPass(LoopSimplifyPass());
  FPM.addPass(WidenLoops(B, R, C));
  FPM.addPass(InstCombinePass());
  FPM.addPass(EarlyCSEPass());
  FPM.addPass(SimplifyCFGPass());
  ModulePassManager Passes;
  Passes.addPass(createModuleToFunctionPassAdaptor(std::move(FPM)));
  runPasses(B, Passes);
}
