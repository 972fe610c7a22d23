// SPDX-License-Identifier: MIT
//===- LlvmCompat.h - What later versions of LLVM change ------------------===//
//
// COSY_LLVM in the top CMakeLists.txt is the version that the pass is built
// for.  This is all of the pass that differs in LLVM 20 to 22, except for
// Plugin.cpp: the place of PassPlugin.h, and the arguments of
// registerOptimizerLastEPCallback, which take both forms.
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PASS_LLVMCOMPAT_H
#define COSY_PASS_LLVMCOMPAT_H

#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Attributes.h"
#include "llvm/TargetParser/Triple.h"

namespace cosy {

#if LLVM_VERSION_MAJOR >= 21
/// Names a target to LLVM: by a string up to LLVM 20, by a triple since.
using TargetName = llvm::Triple;
#else
using TargetName = llvm::StringRef;
#endif

/// Returns the attribute of an argument that a function does not keep.
inline llvm::Attribute noCapture(llvm::LLVMContext &Ctx) {
#if LLVM_VERSION_MAJOR >= 21
  return llvm::Attribute::getWithCaptureInfo(Ctx, llvm::CaptureInfo::none());
#else
  return llvm::Attribute::get(Ctx, llvm::Attribute::NoCapture);
#endif
}

} // namespace cosy

#endif // COSY_PASS_LLVMCOMPAT_H
