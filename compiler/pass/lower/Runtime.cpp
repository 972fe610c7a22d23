// SPDX-License-Identifier: MIT
//===- Runtime.cpp - Bodies for libc functions that are no call -----------===//
//
// Short functions of libc that are neither a system call nor an operation have
// a body in runtime/runtime.c, which the plugin carries as bitcode:
//
//   %n = call i32 @atoi(ptr %p)   ->   %n = call i32 @__cosy_rt_atoi(ptr %p)
//
//===----------------------------------------------------------------------===//
#include "calls/CallTable.h"
#include "lower/BpfModule.h"
#include "lower/CallOuts.h"
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

// runtime/*.c as BPF bitcode, made by the build.
extern "C" const unsigned char cosy_runtime_bitcode[], cosy_strings_bitcode[];
extern "C" const unsigned long cosy_runtime_bitcode_size,
    cosy_strings_bitcode_size;

static constexpr char Prefix[] = "__cosy_rt_";

static std::unique_ptr<Module> parse(LLVMContext &Ctx,
                                     const unsigned char *Bytes, size_t Size) {
  StringRef Bitcode(reinterpret_cast<const char *>(Bytes), Size);
  auto Parsed = parseBitcodeFile(MemoryBufferRef(Bitcode, "runtime"), Ctx);
  if (!Parsed)
    report_fatal_error(Parsed.takeError());
  return std::move(*Parsed);
}

static std::unique_ptr<Module> parseRuntime(LLVMContext &Ctx) {
  return parse(Ctx, cosy_runtime_bitcode, cosy_runtime_bitcode_size);
}

/// True if a function makes system calls, itself or in one that it calls.
static bool makesCalls(const Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    const auto *C = dyn_cast<CallBase>(&I);
    const Function *Callee = C ? C->getCalledFunction() : nullptr;
    if (!Callee || Callee->isIntrinsic())
      return false;
    const Wrapper *W = findWrapper(Callee->getName());
    return Callee->getName() == "syscall" || (W && W->MakesCalls) ||
           (!Callee->isDeclaration() && makesCalls(*Callee));
  });
}

/// Maps each function that has a body here to whether it makes system calls.
static const StringMap<bool> &bodies() {
  static const StringMap<bool> Bodies = [] {
    StringMap<bool> Found;
    LLVMContext Ctx;
    std::unique_ptr<Module> Runtime = parseRuntime(Ctx);
    for (const Function &F : *Runtime)
      if (StringRef Name = F.getName(); Name.consume_front(Prefix))
        Found[Name] = makesCalls(F);
    return Found;
  }();
  return Bodies;
}

bool cosy::isInRuntime(StringRef LibcName) {
  return bodies().contains(LibcName);
}

bool cosy::runtimeMakesCalls(StringRef LibcName) {
  return bodies().lookup(LibcName);
}

bool cosy::isOfRuntime(const Function &F) {
  return F.getName().starts_with(Prefix);
}

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

std::unique_ptr<Module> cosy::stringBodies(LLVMContext &Ctx) {
  return parse(Ctx, cosy_strings_bitcode, cosy_strings_bitcode_size);
}

/// True for those of libc's directory streams that make no call: libcosy is to
/// check their layout as well.
static bool readsStream(StringRef Name) {
  return Name == "dirfd" || Name == "telldir";
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
  std::unique_ptr<Module> Parsed = parseRuntime(B.M->getContext());
  Module &Runtime = *Parsed;
  markCallOuts(Runtime);

  bool Used = false;
  for (Function &F : *B.M)
    for (Instruction &I : instructions(F)) {
      auto *C = dyn_cast<CallBase>(&I);
      Function *Callee = C ? C->getCalledFunction() : nullptr;
      if (!Callee || !Callee->isDeclaration() || isForeign(*Callee))
        continue;
      Function *Body = Runtime.getFunction((Prefix + Callee->getName()).str());
      // A function of another type is not libc's.
      if (!Body || Body->getFunctionType() != C->getFunctionType())
        continue;
      if (runtimeMakesCalls(Callee->getName()) ||
          readsStream(Callee->getName()))
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
