// SPDX-License-Identifier: MIT
//===- FormatCalls.h - Calls that format into memory ----------------------===//
#ifndef COSY_PASS_FORMATCALLS_H
#define COSY_PASS_FORMATCALLS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/InstrTypes.h"
#include <optional>

extern "C" {
#include "calls/format_parts.h"
}

namespace cosy {

/// Longer text between conversions is copied from the format.
constexpr unsigned MaxTextWords = 3;

/// A function of libc's that formats into memory.
struct Formatter {
  const char *Name;
  int Size;   ///< Index of the buffer's size; -1: there is none.
  int Object; ///< Index of the object's size, of _FORTIFY_SOURCE; -1: none.
  unsigned Format;
};

/// The parts of a call's format, if an operation can do them all.
struct FormatPlan {
  const Formatter *Of = nullptr;
  llvm::SmallVector<format_part, 8> Parts;
  llvm::StringRef Text;
  unsigned Pieces = 0;
};

/// Returns how an operation does what a call of libc's formats into memory;
/// nothing if none can, or it is another call.
std::optional<FormatPlan> planFormat(const llvm::CallBase &C);
/// Returns how many words of 8 bytes a part's text takes.
unsigned wordsOf(const format_part &Part);
/// True for a call of libc's that formats into memory, and that an operation
/// stands for.
bool isFormat(const llvm::CallBase &C);

} // namespace cosy

#endif // COSY_PASS_FORMATCALLS_H
