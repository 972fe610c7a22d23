// SPDX-License-Identifier: MIT
//===- BpfModule.h - A region as a module of its own, for BPF -------------===//
#ifndef COSY_PASS_BPFMODULE_H
#define COSY_PASS_BPFMODULE_H

#include "region/Region.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"

namespace llvm {
class TargetLibraryInfoImpl;
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

/// True for the inline assembly that makes a call with a sixth argument.
bool isSixCall(const llvm::InlineAsm &Asm);

/// Returns the BPF target machine.
llvm::TargetMachine &bpfTarget();

/// Fills in M, Main and HostGlobals.
void makeBpfModule(const Extracted &R, Compound &C, BpfModule &B);

// LibcFunctions.cpp
/// True if a function without a body, or its copy in M, may be the program's
/// own in spite of its name.
bool isForeign(const llvm::Function &F);

// LowerCalls.cpp
/// Turns calls of libc functions that the table knows into calls by number
/// with errno handling, or of the embedded runtime.  Leaves the others alone.
void lowerCalls(BpfModule &B, Compound &C);
/// Turns calls of functions on strings and memory, which lowerCalls leaves to
/// LLVM, into operations; after optimisation.
void lowerStrings(BpfModule &B);
/// Allows LLVM what it knows about these functions.
void allowStringFunctions(const llvm::Module &M,
                          llvm::TargetLibraryInfoImpl &Library);
/// Returns the function that is called, or null where that is not known.
llvm::Function *calleeOf(const llvm::CallBase &C);
/// Returns the name of the C library's (or libcosy's) function that is called,
/// or "".
llvm::StringRef libcName(const llvm::CallBase &C);
/// Adds a function to those that the compound replaces by system calls.
void noteReplaced(const BpfModule &B, Compound &C, const llvm::Function &F);
/// Marks a call of an operation on memory with what LLVM may rely on.
void describeOperation(llvm::CallInst *Call, const char *Letters,
                       bool MayReturnArgument);

/// Has the code before C turn r0 into what libc returns: for -4095..-1 it sets
/// errno, and the value is -1.
llvm::Value *createErrnoTest(BpfModule &B, llvm::CallBase *C,
                             llvm::Value *Result);

// Formats.cpp
/// True for a call of libc's that formats into memory, and that an operation
/// stands for.
bool isFormat(const llvm::CallBase &C);
/// Replaces such a call; false for any other.
bool lowerFormat(BpfModule &B, llvm::CallBase *C);

// Fortify.cpp
/// Has the program end as _FORTIFY_SOURCE ends it before C if the condition
/// holds.
void failCheckIf(BpfModule &B, llvm::Value *Condition, llvm::CallBase *C);
/// Replaces a call of a function of _FORTIFY_SOURCE by its check and the plain
/// call, which it returns; any other call is returned as it is.
llvm::CallBase *expandFortified(BpfModule &B, llvm::CallBase *C);

// Bytes.cpp
/// Makes reads of a single byte into a local readc, which returns it in a
/// register; true when there was one.
bool chooseBytes(BpfModule &B, const Extracted &R, Compound &C);

// Views.cpp
/// Makes reads into buffers that nothing else sees views of the page cache.
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

/// Returns runtime/strings.c as a module.
std::unique_ptr<llvm::Module> stringBodies(llvm::LLVMContext &Ctx);
/// Links the functions of an embedded module that B calls.
void linkNeeded(BpfModule &B, std::unique_ptr<llvm::Module> Embedded);

// Strings.cpp
/// Expands operations on short strings and little memory in place.
void expandStrings(BpfModule &B, const Extracted &R, const Compound &C);

// Inline.cpp
/// Decides which functions are inlined: all but recursive ones, within Budget
/// instructions.
void planCalls(BpfModule &B, unsigned Budget);

// Optimize.cpp
/// Runs clang's -O2 without what only hurts here.
void optimize(BpfModule &B);
/// Runs passes as the stages do: with few library functions, and BPF's costs.
void runPasses(BpfModule &B, llvm::ModulePassManager &Passes);
/// Cleans up, after assignStorage, what its loads left.
void cleanUp(BpfModule &B);

// Widen.cpp
/// Makes loops over bytes take eight at once.
void widenLoops(BpfModule &B, const Extracted &R, Compound &C);

// Unroll.cpp
/// Makes small loops that load and store go several rounds at once.
void unrollLoops(BpfModule &B, Compound &C);

// Divisions.cpp
/// Tests the divisions of functions that the host does not optimise, all that
/// may trap there; before optimisation.
void testDivisionsAsWritten(BpfModule &B);
/// Tests the divisions that may trap natively; after optimisation.
void testDivisions(BpfModule &B);

// Legalize.cpp
/// Expands what BPF lacks; Why says what cannot be.
void legalize(BpfModule &B, Compound &C, Reasons &Why);

// Signatures.cpp
/// Makes structures passed by value explicit copies; before optimisation.
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
/// Says why core/ refuses a program, and at which instruction; empty when it
/// does not.
std::string validateCode(const std::vector<uint8_t> &Code, uint32_t &Insn);

} // namespace cosy

#endif // COSY_PASS_BPFMODULE_H
