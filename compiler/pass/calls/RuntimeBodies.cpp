// SPDX-License-Identifier: MIT
//===- RuntimeBodies.cpp - The bodies of libc functions that are no call --===//
//
// Some of libc's functions are neither a system call nor an operation, but have
// a body in runtime/, which the plugin carries as bitcode.
//
//===----------------------------------------------------------------------===//
#include "calls/RuntimeBodies.h"
#include "calls/CallTable.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace cosy;

// runtime/*.c as BPF bitcode, made by the build.
extern "C" const unsigned char cosy_runtime_bitcode[],
    cosy_directories_bitcode[], cosy_heap_bitcode[], cosy_strings_bitcode[];
extern "C" const unsigned long cosy_runtime_bitcode_size,
    cosy_directories_bitcode_size, cosy_heap_bitcode_size,
    cosy_strings_bitcode_size;

static std::unique_ptr<Module> parse(LLVMContext &Ctx,
                                     const unsigned char *Bytes, size_t Size) {
  StringRef Bitcode(reinterpret_cast<const char *>(Bytes), Size);
  auto Parsed = parseBitcodeFile(MemoryBufferRef(Bitcode, "runtime"), Ctx);
  if (!Parsed)
    report_fatal_error(Parsed.takeError());
  return std::move(*Parsed);
}

std::unique_ptr<Module> cosy::runtimeBodies(LLVMContext &Ctx) {
  std::unique_ptr<Module> Bodies =
      parse(Ctx, cosy_runtime_bitcode, cosy_runtime_bitcode_size);
  if (Linker::linkModules(*Bodies, parse(Ctx, cosy_directories_bitcode,
                                         cosy_directories_bitcode_size)) ||
      Linker::linkModules(
          *Bodies, parse(Ctx, cosy_heap_bitcode, cosy_heap_bitcode_size)))
    report_fatal_error("cosy: cannot link the parts of the runtime");
  return Bodies;
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

/// Returns the number of the only system call that a body names by a constant.
static std::optional<uint64_t> onlyCall(const Function &F) {
  std::optional<uint64_t> Only;
  for (const Instruction &I : instructions(F)) {
    const auto *C = dyn_cast<CallBase>(&I);
    const Function *Callee = C ? C->getCalledFunction() : nullptr;
    if (!Callee || Callee->getName() != "syscall")
      continue;
    const auto *Number = dyn_cast<ConstantInt>(C->getArgOperand(0));
    if (Only || !Number)
      return std::nullopt;
    Only = Number->getZExtValue();
  }
  return Only;
}

namespace {
/// What a body here calls.
struct Body {
  bool MakesCalls = false;
  std::optional<uint64_t> OnlyCall;
};
} // namespace

/// Maps each function that has a body here to its calls.
static const StringMap<Body> &bodies() {
  static const StringMap<Body> Bodies = [] {
    StringMap<Body> Found;
    LLVMContext Ctx;
    std::unique_ptr<Module> Runtime = runtimeBodies(Ctx);
    for (const Function &F : *Runtime)
      if (StringRef Name = F.getName(); Name.consume_front(RuntimePrefix))
        Found[Name] = {makesCalls(F), onlyCall(F)};
    return Found;
  }();
  return Bodies;
}

bool cosy::isInRuntime(StringRef LibcName) {
  return bodies().contains(LibcName);
}

bool cosy::runtimeMakesCalls(StringRef LibcName) {
  return bodies().lookup(LibcName).MakesCalls;
}

std::optional<uint64_t> cosy::runtimeCall(StringRef LibcName) {
  return bodies().lookup(LibcName).OnlyCall;
}

bool cosy::isOfRuntime(const Function &F) {
  return F.getName().starts_with(RuntimePrefix);
}

std::unique_ptr<Module> cosy::stringBodies(LLVMContext &Ctx) {
  return parse(Ctx, cosy_strings_bitcode, cosy_strings_bitcode_size);
}
