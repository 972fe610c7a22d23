// SPDX-License-Identifier: MIT
//===- Runtime.cpp - Bodies for libc functions that are no call -----------===//
//
// Short functions of libc that are neither a system call nor an operation have
// a body in runtime/runtime.c, which the plugin carries as bitcode:
//
//   %n = call i32 @atoi(ptr %p)   ->   %n = call i32 @__cosy_rt_atoi(ptr %p)
//
//===----------------------------------------------------------------------===//
#include "lower/Runtime.h"
#include "calls/LibcCalls.h"
#include "calls/LibcFunctions.h"
#include "calls/RuntimeBodies.h"
#include "lower/BpfModule.h"
#include "lower/CallOuts.h"
#include "lower/Compound.h"
#include "lower/Operations.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"

#define DEBUG_TYPE "cosy-link-runtime"

using namespace llvm;
using namespace cosy;

ALWAYS_ENABLED_STATISTIC(NumBodies,
                         "Number of libc calls that were given bodies");

/// Lets LLVM take the calls of an embedded body for those of the C library.
static void allowBuiltins(Function &F) {
  F.removeFnAttr("no-builtins");
  for (Instruction &I : instructions(F))
    if (auto *C = dyn_cast<CallBase>(&I)) {
      C->removeFnAttr(Attribute::NoBuiltin);
      C->removeFnAttr("no-builtins");
    }
}

void cosy::linkNeeded(BpfModule &B, std::unique_ptr<Module> Parsed) {
  Parsed->setTargetTriple(B.M->getTargetTriple());
  Parsed->setDataLayout(B.M->getDataLayout());
  for (Function &F : *Parsed)
    allowBuiltins(F);
  if (Linker::linkModules(*B.M, std::move(Parsed), Linker::LinkOnlyNeeded))
    report_fatal_error("cosy: cannot link the runtime");
}

/// True for functions that make no call, but whose bodies know a layout of
/// libc's: libcosy is to check it.
static bool knowsLayout(StringRef Name) {
  Name.consume_front("__");
  return is_contained({"dirfd", "telldir", "malloc", "free", "calloc",
                       "realloc", "reallocarray", "strdup", "strndup"},
                      Name);
}

/// Marks calls of libc's functions in the bodies that the compound is to leave
/// for.
static void markCallOuts(Module &Runtime) {
  for (Function &F : Runtime)
    for (Instruction &I : instructions(F)) {
      auto *C = dyn_cast<CallInst>(&I);
      Function *Callee = C ? C->getCalledFunction() : nullptr;
      if (Callee && Callee->isDeclaration() && canCallOut(*C))
        C->addFnAttr(Attribute::get(F.getContext(), CallOutAttr));
    }
}

void cosy::linkRuntime(BpfModule &B, Compound &Comp) {
  std::unique_ptr<Module> Parsed = runtimeBodies(B.M->getContext());
  Module &Runtime = *Parsed;
  markCallOuts(Runtime);

  bool Used = false;
  for (Function &F : *B.M)
    for (Instruction &I : instructions(F)) {
      auto *C = dyn_cast<CallBase>(&I);
      Function *Callee = C ? C->getCalledFunction() : nullptr;
      if (!Callee || !Callee->isDeclaration() || isForeign(*Callee))
        continue;
      Function *Body =
          Runtime.getFunction((RuntimePrefix + Callee->getName()).str());
      // A function of another type is not libc's.
      if (!Body || Body->getFunctionType() != C->getFunctionType())
        continue;
      if (runtimeMakesCalls(Callee->getName()) ||
          knowsLayout(Callee->getName()))
        noteReplaced(B, Comp, *Callee);
      C->setCalledFunction(
          B.M->getOrInsertFunction(Body->getName(), Body->getFunctionType()));
      Used = true;
      ++NumBodies;
    }
  if (!Used)
    return;
  linkNeeded(B, std::move(Parsed));
  for (Function &F : *B.M)
    if (isOfRuntime(F) && !F.isDeclaration()) {
      F.setLinkage(GlobalValue::InternalLinkage);
      F.addFnAttr("no-jump-tables", "true");
      F.removeFnAttr(Attribute::NoInline);
    }
}
