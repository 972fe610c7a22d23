// SPDX-License-Identifier: MIT
//===- Formats.cpp - snprintf of a constant format is an operation --------===//
//
// A part of cosy-lower-calls.  What can be known of a format is put into pieces
// (struct cosy_text_piece of <linux/cosy.h>), so that the operation reads no
// format:
//
//   %n = call i32 (..) @snprintf(ptr %buf, i64 64, ptr @.str, ptr %a, i32 %b)
//
// becomes, for "%s/%d",
//
//   store i64 1, ptr %pieces              ; COSY_PIECE_STRING
//   store ptr %a, ptr %value0
//   store i64 4294967296, ptr %piece1     ; COSY_PIECE_TEXT of 1 byte
//   store i64 47, ptr %value1             ; '/'
//   ..
//   %n = call i64 @__cosy_call.65580.plpl(ptr %buf, i64 64, ptr %pieces, i64 3)
//
// Other formats stay calls of libc.
//
//===----------------------------------------------------------------------===//
#include "lower/Formats.h"
#include "base/LlvmCompat.h"
#include "calls/CallTable.h"
#include "calls/FormatCalls.h"
#include "lower/BpfModule.h"
#include "lower/Fortify.h"
#include "lower/Operations.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/ValueTracking.h"

#define DEBUG_TYPE "cosy-formats"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumFormats, "Number of formats made operations");

namespace {
/// Puts pieces into memory.
class PieceWriter {
  IRBuilder<> &IB;
  CallBase &C;
  Value *Pieces;
  unsigned Next, Made = 0;

public:
  PieceWriter(IRBuilder<> &IB, CallBase &C, Value *Pieces, unsigned FirstArg)
      : IB(IB), C(C), Pieces(Pieces), Next(FirstArg) {}

  void write(const format_part &Part, StringRef Format, Value *FormatAddress) {
    if (Part.piece.kind != COSY_PIECE_TEXT)
      return writeConversion(Part);
    StringRef Text = Format.substr(Part.offset, Part.length);
    if (wordsOf(Part) > MaxTextWords) {
      cosy_text_piece Piece = {};
      Piece.kind = COSY_PIECE_STRING;
      Piece.flags = COSY_PIECE_PRECISION;
      return store(
          Piece, nullptr, IB.getInt32(Part.length),
          IB.CreateConstGEP1_64(IB.getInt8Ty(), FormatAddress, Part.offset));
    }
    for (; !Text.empty();
         Text = Text.drop_front(std::min<size_t>(8, Text.size()))) {
      StringRef Word = Text.take_front(8);
      cosy_text_piece Piece = {};
      Piece.kind = COSY_PIECE_TEXT;
      Piece.width = Word.size();
      store(Piece, nullptr, nullptr,
            IB.getInt64(cosy_format_word(Word.data(), Word.size())));
    }
  }

private:
  Value *take() { return C.getArgOperand(Next++); }

  /// Returns an argument as the piece's value.
  Value *valueOf(const format_part &Part, Value *V) {
    if (V->getType()->isPointerTy())
      return V;
    if (Part.piece.kind != COSY_PIECE_CHAR)
      V = IB.CreateTrunc(V, IB.getIntNTy(Part.bytes * 8));
    return Part.piece.kind == COSY_PIECE_SIGNED
               ? IB.CreateSExt(V, IB.getInt64Ty())
               : IB.CreateZExt(V, IB.getInt64Ty());
  }

  void writeConversion(const format_part &Part) {
    Value *Width = Part.width_given ? take() : nullptr;
    Value *Precision = Part.precision_given ? take()
                       : Part.piece.flags & COSY_PIECE_PRECISION
                           ? IB.getInt32(Part.piece.precision)
                           : nullptr;
    store(Part.piece, Width, Precision, valueOf(Part, take()));
  }

  Value *at(unsigned Offset) {
    return IB.CreateConstInBoundsGEP1_64(
        IB.getInt8Ty(), Pieces, Made * sizeof(cosy_text_piece) + Offset);
  }

  void store(const cosy_text_piece &Piece, Value *Width, Value *Precision,
             Value *V) {
    Value *Head = IB.getInt64(Piece.kind | Piece.flags << 8 |
                              uint64_t(uint32_t(Piece.width)) << 32);
    if (Width)
      Head = IB.CreateOr(
          Head, IB.CreateShl(IB.CreateZExt(Width, IB.getInt64Ty()), 32));
    IB.CreateAlignedStore(Head, at(0), Align(8));
    if (Precision)
      IB.CreateAlignedStore(Precision, at(offsetof(cosy_text_piece, precision)),
                            Align(4));
    IB.CreateAlignedStore(V, at(offsetof(cosy_text_piece, value)), Align(8));
    ++Made;
  }
};
} // namespace

/// Returns a local of F for so many pieces, which its calls share.
static AllocaInst *roomForPieces(Function &F, unsigned Pieces) {
  LLVMContext &Ctx = F.getContext();
  auto *Word = Type::getInt64Ty(Ctx);
  // No type of the program's is like that.
  auto *Piece =
      StructType::get(Ctx, {Word, StructType::get(Ctx, {Word, Word})});
  static_assert(sizeof(cosy_text_piece) == 3 * 8);
  for (Instruction &I : F.getEntryBlock())
    if (auto *A = dyn_cast<AllocaInst>(&I))
      if (auto *Ty = dyn_cast<ArrayType>(A->getAllocatedType());
          Ty && Ty->getElementType() == Piece && Ty->getNumElements() >= Pieces)
        return A;
  IRBuilder<> IB(&F.getEntryBlock(), F.getEntryBlock().begin());
  return IB.CreateAlloca(ArrayType::get(Piece, Pieces));
}

bool cosy::lowerFormat(BpfModule &B, CallBase *C) {
  std::optional<FormatPlan> P = planFormat(*C);
  if (!P)
    return false;
  ++NumFormats;
  IRBuilder<> IB(C);
  auto ArgOr = [&](int I) {
    return I < 0 ? cast<Value>(IB.getInt64(-1)) : C->getArgOperand(I);
  };
  Value *Object = ArgOr(P->Of->Object), *Size = ArgOr(P->Of->Size);
  auto *Known = dyn_cast<ConstantInt>(Object);
  bool IsChecked = !Known || !Known->isMinusOne();
  if (P->Of->Size < 0)
    Size = Object;
  else if (IsChecked)
    failCheckIf(B, IB.CreateICmpUGT(Size, Object), C);
  IB.SetInsertPoint(C);

  AllocaInst *Pieces = roomForPieces(*C->getFunction(), P->Pieces);
  // So that a recursive function need not keep them (ShortLocals.cpp).
  IB.CreateLifetimeStart(Pieces);
  PieceWriter Writer(IB, *C, Pieces, P->Of->Format + 1);
  for (const format_part &Part : P->Parts)
    Writer.write(Part, P->Text, C->getArgOperand(P->Of->Format));
  CallInst *Call =
      B.createCall(IB, operationNumber("format"),
                   {C->getArgOperand(0), Size, Pieces, IB.getInt64(P->Pieces)});
  IB.CreateLifetimeEnd(Pieces);
  Function *Operation = Call->getCalledFunction();
  Operation->addFnAttr(Attribute::WillReturn);
  Operation->addFnAttr(Attribute::NoCallback);
  for (unsigned Arg : {0, 2})
    Operation->addParamAttr(Arg, noCapture(Operation->getContext()));
  if (IsChecked && P->Of->Size < 0)
    failCheckIf(B, IB.CreateICmpUGE(Call, Object), C);
  Value *Result = createErrnoTest(B, C, Call);
  IB.SetInsertPoint(C);
  C->replaceAllUsesWith(IB.CreateTrunc(Result, C->getType()));
  C->eraseFromParent();
  return true;
}
