// SPDX-License-Identifier: MIT
//===- Runtime.cpp - Bodies for libc functions that are no call -----------===//
#include "BpfModule.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace cosy;

// runtime/runtime.c as BPF bitcode, made by the build.
extern "C" const unsigned char cosy_runtime_bitcode[];
extern "C" const unsigned long cosy_runtime_bitcode_size;

static constexpr char Prefix[] = "__cosy_rt_";

void cosy::linkRuntime(BpfModule &B) {
  StringRef Bitcode(reinterpret_cast<const char *>(cosy_runtime_bitcode),
                    cosy_runtime_bitcode_size);
  auto Parsed =
      parseBitcodeFile(MemoryBufferRef(Bitcode, "runtime"), B.M->getContext());
  if (!Parsed)
    report_fatal_error(Parsed.takeError());
  Module &Runtime = **Parsed;
  Runtime.setTargetTriple(B.M->getTargetTriple());
  Runtime.setDataLayout(B.M->getDataLayout());

  bool Used = false;
  for (Function &F : *B.M)
    for (Instruction &I : instructions(F)) {
      auto *C = dyn_cast<CallBase>(&I);
      Function *Callee = C ? C->getCalledFunction() : nullptr;
      if (!Callee || !Callee->isDeclaration())
        continue;
      Function *Body = Runtime.getFunction((Prefix + Callee->getName()).str());
      // A function of another type is not libc's.
      if (!Body || Body->getFunctionType() != C->getFunctionType())
        continue;
      C->setCalledFunction(
          B.M->getOrInsertFunction(Body->getName(), Body->getFunctionType()));
      Used = true;
    }
  if (!Used)
    return;
  if (Linker::linkModules(*B.M, std::move(*Parsed), Linker::LinkOnlyNeeded))
    report_fatal_error("cosy: cannot link the runtime");
  for (Function &F : *B.M)
    if (F.getName().starts_with(Prefix) && !F.isDeclaration()) {
      F.setLinkage(GlobalValue::InternalLinkage);
      F.addFnAttr("no-jump-tables", "true");
      F.removeFnAttr("no-builtins");
      F.removeFnAttr(Attribute::NoInline);
    }
}
