// SPDX-License-Identifier: MIT
//===- BpfModule.h - A region as a module of its own, for BPF -------------===//
#ifndef COSY_PASS_BPFMODULE_H
#define COSY_PASS_BPFMODULE_H

#include "Region.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"

namespace cosy {

/// A region's functions in a module of their own, on their way to BPF.
struct BpfModule {
  llvm::Module &Host;
  std::unique_ptr<llvm::Module> M;
  /// i64 main(ptr ctx): the compound's first function.
  llvm::Function *Main = nullptr;
  /// What a global's name in M stands for in the host.
  llvm::StringMap<llvm::GlobalValue *> HostGlobals;
  /// Some call had a handler or clean-up for exceptions.
  bool HasHandlers = false;
  /// The context's layout so far: bytes in use.
  unsigned ContextSize = 0;

  explicit BpfModule(llvm::Module &Host) : Host(Host) {}

  /// The compound's context, in any function: a placeholder until
  /// assignStorage.
  llvm::Value *context(llvm::IRBuilderBase &B);
  llvm::Value *contextField(llvm::IRBuilderBase &B, unsigned Offset);
  /// Loads what the host stored at entry.
  llvm::LoadInst *loadField(llvm::IRBuilderBase &B, llvm::Type *Ty,
                            unsigned Offset);
  /// Room for a value in the context.
  unsigned allocateField(uint64_t Size, llvm::Align Alignment = llvm::Align(8));

  /// `call Number` with up to five arguments; i64 unless void.
  llvm::CallInst *createCall(llvm::IRBuilderBase &B, uint32_t Number,
                             llvm::ArrayRef<llvm::Value *> Args,
                             llvm::Type *Result = nullptr);
};

/// Functions that stand for `call N`: this prefix, N, and what tells apart
/// declarations of one N with different types.
constexpr char CallPrefix[] = "__cosy_call.";
constexpr char ContextName[] = "__cosy_context";
/// Attribute of functions that may be active more than once.
constexpr char RecursiveAttr[] = "cosy-recursive";

/// True for the stand-in of a `call N`, with its number.
bool isNumberedCall(const llvm::Value *Callee, uint32_t &Number);

/// True for the inline assembly that makes a call with a sixth argument.
bool isSixCall(const llvm::InlineAsm &Asm);

/// The BPF target machine.
llvm::TargetMachine &bpfTarget();

/// Fills in M, Main and HostGlobals.
void makeBpfModule(const Extracted &R, Compound &C, BpfModule &B);

// LibcFunctions.cpp
/// True if a function without a body may be the program's own, whatever its
/// name is.  Also of a copy in M.
bool isForeign(const llvm::Function &F);

// LowerCalls.cpp
/// Turns calls of libc functions that the table knows into calls by number
/// with errno handling, or of the embedded runtime.  Leaves the others alone.
void lowerCalls(BpfModule &B, Compound &C);
/// The name of the C library's (or libcosy's) function that is called, or "".
llvm::StringRef libcName(const llvm::CallBase &C);
/// Adds a function to those that the compound replaces by system calls.
void noteReplaced(const BpfModule &B, Compound &C, const llvm::Function &F);
/// Says of an operation on memory what LLVM may rely on.
void describeOperation(llvm::CallInst *Call, const char *Letters,
                       bool MayReturnArgument);

// Fortify.cpp
/// Replaces a call of a function of _FORTIFY_SOURCE by its check and the plain
/// call, which it returns; any other call is returned as it is.
llvm::CallBase *expandFortified(BpfModule &B, llvm::CallBase *C);

// Bytes.cpp
/// Reads of a single byte into a local become readc, where the byte is in a
/// register; true when any did.
bool chooseBytes(BpfModule &B, const Extracted &R, Compound &C);

// Views.cpp
/// Reads into buffers that nothing else sees become views of the page cache.
void chooseViews(BpfModule &B, const Extracted &R, Compound &C);

// Runtime.cpp
/// Links the embedded bodies of libc functions that B calls.
void linkRuntime(BpfModule &B, Compound &C);
/// True for the bodies themselves, as long as they are functions in M.
bool isOfRuntime(const llvm::Function &F);
/// True if there is a body for calls of this function.
bool isInRuntime(llvm::StringRef LibcName);
/// True if there is one, and it makes system calls.
bool runtimeMakesCalls(llvm::StringRef LibcName);

// Inline.cpp
/// Decides which functions are inlined: all but recursive ones, within Budget
/// instructions.
void planCalls(BpfModule &B, unsigned Budget);

// Optimize.cpp
/// clang's -O2 without what only hurts here.
void optimize(BpfModule &B);
/// After assignStorage: what its loads left to clean up.
void cleanUp(BpfModule &B);

// Legalize.cpp
/// Expands what BPF lacks; Why says what cannot be.
void legalize(BpfModule &B, Compound &C, Reasons &Why);

// Signatures.cpp
/// Before optimisation: structures passed by value become explicit copies.
void expandByValue(BpfModule &B);
/// Makes the signatures of called functions fit: five registers, one result.
void packSignatures(BpfModule &B);

// Storage.cpp
/// Places locals and the addresses of globals in the context.
void assignStorage(BpfModule &B, Compound &C, Reasons &Why);

// Emit.cpp
/// Generates code.  False with Why filled in.
bool emitCode(BpfModule &B, Compound &C, Reasons &Why);

// Validate.cpp
/// Why core/ refuses a program, and at which instruction; empty when it does
/// not.
std::string validateCode(const std::vector<uint8_t> &Code, uint32_t &Insn);

} // namespace cosy

#endif // COSY_PASS_BPFMODULE_H
