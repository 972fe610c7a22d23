// SPDX-License-Identifier: MIT
//===- FormatCalls.cpp - Calls that format into memory --------------------===//
//
// Finds calls of snprintf and sprintf whose format is constant, if an operation
// of core/ops.def can do all of its conversions.
//
//===----------------------------------------------------------------------===//
#include "calls/FormatCalls.h"
#include "calls/LibcFunctions.h"
#include "llvm/Analysis/ValueTracking.h"

using namespace llvm;
using namespace cosy;

static const Formatter Formatters[] = {
    {"snprintf", 1, -1, 2},
    {"sprintf", -1, -1, 1},
    {"__snprintf_chk", 1, 3, 4},
    {"__sprintf_chk", -1, 2, 3},
};

/// Returns whether an argument is of the type that a part's conversion takes.
static bool fits(const format_part &Part, const Type *Ty) {
  switch (Part.piece.kind) {
  case COSY_PIECE_STRING:
  case COSY_PIECE_POINTER:
    return Ty->isPointerTy() && !Ty->getPointerAddressSpace();
  default:
    return Ty->isIntegerTy(Part.bytes == 8 ? 64 : 32);
  }
}

unsigned cosy::wordsOf(const format_part &Part) {
  return (Part.length + 7) / 8;
}

static unsigned piecesOf(const format_part &Part) {
  if (Part.piece.kind != COSY_PIECE_TEXT || wordsOf(Part) > MaxTextWords)
    return 1;
  return wordsOf(Part);
}

/// Checks the arguments' types, and counts the pieces.
static bool fitsArguments(const CallBase &C, FormatPlan &P) {
  unsigned Next = P.Of->Format + 1;
  auto Takes = [&](auto Is) {
    return Next < C.arg_size() && Is(C.getArgOperand(Next++)->getType());
  };
  auto IsInt = [](const Type *Ty) { return Ty->isIntegerTy(32); };
  for (const format_part &Part : P.Parts) {
    P.Pieces += piecesOf(Part);
    if (Part.piece.kind == COSY_PIECE_TEXT)
      continue;
    if ((Part.width_given && !Takes(IsInt)) ||
        (Part.precision_given && !Takes(IsInt)) ||
        !Takes([&](const Type *Ty) { return fits(Part, Ty); }))
      return false;
  }
  return P.Pieces <= COSY_MAX_PIECES;
}

std::optional<FormatPlan> cosy::planFormat(const CallBase &C) {
  FormatPlan P;
  StringRef Name = libcName(C);
  for (const Formatter &F : Formatters)
    if (Name == F.Name)
      P.Of = &F;
  if (!P.Of || C.arg_size() <= P.Of->Format || !C.getType()->isIntegerTy(32) ||
      !C.getArgOperand(0)->getType()->isPointerTy() ||
      !getConstantStringInfo(C.getArgOperand(P.Of->Format), P.Text))
    return std::nullopt;
  for (int I : {P.Of->Size, P.Of->Object})
    if (I >= 0 && !C.getArgOperand(I)->getType()->isIntegerTy(64))
      return std::nullopt;
  P.Parts.resize(COSY_MAX_PIECES);
  int Count =
      cosy_format_parse(P.Text.str().c_str(), P.Parts.data(), P.Parts.size());
  if (Count < 0)
    return std::nullopt;
  P.Parts.resize(Count);
  if (!fitsArguments(C, P))
    return std::nullopt;
  return P;
}

bool cosy::isFormat(const CallBase &C) { return planFormat(C).has_value(); }
