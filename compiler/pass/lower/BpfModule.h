// SPDX-License-Identifier: MIT
//===- BpfModule.h - A region as a module of its own, for BPF -------------===//
#ifndef COSY_PASS_BPFMODULE_H
#define COSY_PASS_BPFMODULE_H

#include "lower/Compound.h"
#include "region/Extracted.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace cosy {

/// A region's functions in a module of their own, on their way to BPF.
struct BpfModule {
  llvm::Module &Host;
  std::unique_ptr<llvm::Module> M;
  /// i64 cosy.main(ptr %ctx): the compound's first function.
  llvm::Function *Main = nullptr;
  /// Maps a global's name in M to the host's global that it stands for.
  llvm::StringMap<llvm::GlobalValue *> HostGlobals;
  /// True if some call was an invoke: an exception would have reached a handler
  /// or a clean-up.
  bool HasHandlers = false;
  /// Bytes of the context that have been allocated so far.
  unsigned ContextSize = 0;

  explicit BpfModule(llvm::Module &Host) : Host(Host) {}

  /// Returns the context's address, in any function: a call of ContextName,
  /// which assignStorage replaces.
  llvm::Value *context(llvm::IRBuilderBase &B);
  /// Returns the address of a field of the context.
  llvm::Value *contextField(llvm::IRBuilderBase &B, unsigned Offset);
  /// Loads a field that the host stored at entry.
  llvm::LoadInst *loadField(llvm::IRBuilderBase &B, llvm::Type *Ty,
                            unsigned Offset);
  /// Allocates a field of the context; returns its offset.
  unsigned allocateField(uint64_t Size, llvm::Align Alignment = llvm::Align(8));

  /// Makes `call Number` with up to five arguments, each an i64 or a pointer.
  /// Returns an i64 unless Result is given, as in all calls of that Number.
  llvm::CallInst *createCall(llvm::IRBuilderBase &B, uint32_t Number,
                             llvm::ArrayRef<llvm::Value *> Args,
                             llvm::Type *Result = nullptr);
};

/// Prefix of functions that stand for `call N`.  N follows, then a letter for
/// each argument's type: calls of one N may differ in these.
constexpr char CallPrefix[] = "__cosy_call.";
/// Stands for the context's address.
constexpr char ContextName[] = "__cosy_context";

/// Stands for a computed goto, which legalize refuses.
constexpr char ComputedGotoName[] = "cosy.computed.goto";
/// Attribute of functions that may be active more than once at a time.
constexpr char RecursiveAttr[] = "cosy-recursive";

/// True if Callee stands for `call N`; sets Number to N.
bool isNumberedCall(const llvm::Value *Callee, uint32_t &Number);

/// Returns the BPF target machine.
llvm::TargetMachine &bpfTarget();

/// Makes B's module from a region, and the code of Main.  C gets the offsets of
/// inputs and outputs in the context.
void makeBpfModule(const Extracted &R, Compound &C, BpfModule &B);

} // namespace cosy

#endif // COSY_PASS_BPFMODULE_H
