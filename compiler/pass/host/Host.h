// SPDX-License-Identifier: MIT
//===- Host.h - The code in a region's place ------------------------------===//
#ifndef COSY_PASS_HOST_H
#define COSY_PASS_HOST_H

#include "lower/Compound.h"
#include "region/Extracted.h"

namespace cosy {

/// Replaces the call of an extracted region by code that counts, enters, fills
/// in, runs and takes out, or goes to the native twin.  Entry is the compound
/// of the whole region where R is a way in at a loop or at a function's entry.
void emitHostCode(Extracted &R, Compound &C, Compound *Entry = nullptr);
/// Inlines the native twin back into its place.
void inlineTwin(Extracted &R);
/// Declares a function of libcosy's or libc's that throws nothing.
llvm::FunctionCallee declareHostFunction(llvm::Module &M, llvm::StringRef Name,
                                         llvm::FunctionType *Type);

} // namespace cosy

#endif // COSY_PASS_HOST_H
