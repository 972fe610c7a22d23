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
  /// i64 main(ptr ctx): the compound's first function.
  llvm::Function *Main = nullptr;
  /// Maps a global's name in M to what it stands for in the host.
  llvm::StringMap<llvm::GlobalValue *> HostGlobals;
  /// True if some call had a handler or clean-up for exceptions.
  bool HasHandlers = false;
  /// The context's layout so far: bytes in use.
  unsigned ContextSize = 0;

  explicit BpfModule(llvm::Module &Host) : Host(Host) {}

  /// Returns the compound's context, in any function: a placeholder until
  /// assignStorage.
  llvm::Value *context(llvm::IRBuilderBase &B);
  llvm::Value *contextField(llvm::IRBuilderBase &B, unsigned Offset);
  /// Loads a field that the host stored at entry.
  llvm::LoadInst *loadField(llvm::IRBuilderBase &B, llvm::Type *Ty,
                            unsigned Offset);
  /// Allocates room for a value in the context; returns its offset.
  unsigned allocateField(uint64_t Size, llvm::Align Alignment = llvm::Align(8));

  /// Makes `call Number` with up to five arguments; i64 unless void.
  llvm::CallInst *createCall(llvm::IRBuilderBase &B, uint32_t Number,
                             llvm::ArrayRef<llvm::Value *> Args,
                             llvm::Type *Result = nullptr);
};

/// Prefix of functions that stand for `call N`; N follows, and letters that
/// tell declarations of one N with different types apart.
constexpr char CallPrefix[] = "__cosy_call.";
constexpr char ContextName[] = "__cosy_context";

/// Stands in a computed goto's place.
constexpr char ComputedGotoName[] = "cosy.computed.goto";
/// Attribute of functions that may be active more than once.
constexpr char RecursiveAttr[] = "cosy-recursive";

/// True for the stand-in of a `call N`, with its number.
bool isNumberedCall(const llvm::Value *Callee, uint32_t &Number);

/// Returns the BPF target machine.
llvm::TargetMachine &bpfTarget();

/// Fills in M, Main and HostGlobals.
void makeBpfModule(const Extracted &R, Compound &C, BpfModule &B);

} // namespace cosy

#endif // COSY_PASS_BPFMODULE_H
