// SPDX-License-Identifier: MIT
//===- Region.h - The stages of the pass, and their data ------------------===//
//
// A region's way through the plugin, one file per stage:
//
//   Plugin.cpp     registration and options
//   Pass.cpp       the main path: reads top to bottom
//   Stages.cpp     the stages as passes of opt's, each by its name
//   Markers.cpp    COSY_START/COSY_END -> Region            (findRegion)
//   Natives.cpp    helpers that tell of errors are inlined  (inlineMixed)
//   Leave.cpp      ... which ends before perror and such (leaveEarly)
//   Extract.cpp    Region -> a function of its own          (extractRegion)
//   Private.cpp    locals that only the function knows      (pointersInto)
//   Compile.cpp    that function -> Compound                (compileRegion):
//     BpfModule.cpp    a module of its own, for BPF         (makeBpfModule)
//     LibcFunctions.cpp  which functions are libc's         (isForeign)
//     LowerCalls.cpp   libc wrappers -> calls by number     (lowerCalls)
//     Formats.cpp      snprintf -> an operation             (lowerFormat)
//     Fortify.cpp      those of _FORTIFY_SOURCE -> wrappers (expandFortified)
//     Runtime.cpp      bodies for libc functions that none covers
//     Inline.cpp       what is inlined, what is called      (planCalls)
//     Optimize.cpp     clang's pipeline for it              (optimize)
//     LowerCalls.cpp   strings' functions -> operations     (lowerStrings)
//     Buffers.cpp      who looks at a piece of memory       (bufferOf, usesOf)
//     Bytes.cpp        reads of one byte -> readc           (chooseBytes)
//     Views.cpp        reads without the copy               (chooseViews)
//     Discard.cpp      views that end after their last use  (discardAfterUses)
//     Widen.cpp        loops over bytes take words          (widenLoops)
//     Unroll.cpp       several rounds at once               (unrollLoops)
//     Strings.cpp      operations on short strings in place (expandStrings)
//     Divisions.cpp    those that x86-64 traps on are tested (testDivisions)
//     Legalize.cpp     what BPF lacks; what stays native    (legalize)
//       Atomics.cpp, Arithmetic.cpp, Intrinsics.cpp: its parts
//     Signatures.cpp   local calls that fit five registers  (packSignatures)
//     Storage.cpp      locals and globals -> context        (assignStorage)
//     Emit.cpp         instructions, relocations, lines     (emitCode)
//     Validate.cpp     would the kernel take them?          (validateCode)
//   Loops.cpp      the region from a loop on -> one more    (enterLoops)
//   Recursion.cpp  a function that recurses -> one more     (enterRecursion)
//   LoopAnalyses.cpp  which code makes system calls       (LoopAnalyses)
//   Skips.cpp      rounds of loops that make no call        (countLoop)
//   Cost.cpp       what it would save                       (estimateGain)
//   Losses.cpp     what loops without calls would lose      (countLosses)
//   Samples.cpp    copies of these that count               (sampleLoops)
//   Container.cpp  Compound -> struct cosy_compound         (buildContainer)
//   Host.cpp       the code in the region's place           (emitHostCode)
//   Exits.cpp      early exits of the twin, straight on    (ExitsPass)
//   MoveLocals.cpp locals that regions touch -> buffer      (moveLocals)
//   Outline.cpp    cold ways into the kernel -> functions   (OutlinePass)
//   Report.cpp     remarks and warnings
//   CallTable.cpp  core/ops.def for all of them             (findWrapper)
//
//===----------------------------------------------------------------------===//
#ifndef COSY_PASS_REGION_H
#define COSY_PASS_REGION_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DebugLoc.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Transforms/Utils/ValueMapper.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Loop;
class LoopInfo;
class Module;
class TargetMachine;
} // namespace llvm

namespace cosy {

struct LoopAnalyses;
struct LoopCounts;

/// Why a region stays native, and the position that is to blame.
struct Reason {
  std::string Text;
  llvm::DebugLoc Where;
};
using Reasons = llvm::SmallVector<Reason, 4>;

/// A marked region inside its function.  It has a single entry, since the
/// macros open a scope whose clean-up is the END marker.
struct Region {
  llvm::CallBase *Start = nullptr;
  llvm::SmallVector<llvm::CallBase *, 4> Ends;
  llvm::SetVector<llvm::BasicBlock *> Blocks; ///< Entry first.
  unsigned Line = 0;
  bool EndsEarly = false;   ///< Before calls that it cannot hold (Leave.cpp).
  bool BeginsAgain = false; ///< After them, at the head of a loop.
};

/// The head of a loop that counts its rounds there, but has no way into the
/// kernel: a loop of a function that Recursion.cpp copied.
struct CountedHead {
  llvm::BasicBlock *Head;
  llvm::Value *Made;    ///< See Extracted::Made.
  int64_t Saves, Skips; ///< Saved by a round, and by one without a call.
};

/// A system call that not every entry of a region makes, or not every round of
/// a counted loop: what it saves is counted where it is made.
struct SeldomCall {
  /// Or what follows a composite, or an exit of a loop that is counted at
  /// calls.
  llvm::Instruction *Call;
  int64_t Saves;
  llvm::AllocaInst *Lost = nullptr; ///< See Extracted::Lost.
  /// After a composite: its result, each of which saves PerResult more.
  llvm::Value *Result = nullptr;
  unsigned PerResult = 0;
};

/// A region that has become a function, called in its old place.
struct Extracted {
  llvm::Function *Host = nullptr; ///< The function that held the region.
  /// Takes the inputs, then a pointer per output.
  llvm::Function *Body = nullptr;
  llvm::CallInst *Call = nullptr; ///< The only call of Body.
  unsigned NumInputs = 0;
  llvm::SmallVector<llvm::Type *, 8> Outputs;
  unsigned Line = 0;
  llvm::DebugLoc Where;     ///< Of COSY_START.
  bool BeginsAgain = false; ///< See Region.
  /// The native twin: Body, or a copy of it that can go into the kernel in the
  /// middle.
  llvm::Function *Twin = nullptr;
  llvm::SmallVector<SeldomCall, 4> Seldom; ///< In the native twin.

  /// At a loop's head: the region whose twin is Host.
  std::shared_ptr<Extracted> Outer;
  /// At a loop's head, the loop's next native round; at the entry of a function
  /// that recurses, its native code.
  llvm::BasicBlock *Round = nullptr;
  /// At a loop's head: whether the previous round made a call; null where every
  /// round does.
  llvm::Value *Made = nullptr;

  /// At a call in a loop: what the rounds since the last call would have lost
  /// in the kernel; null at a loop's head.
  llvm::AllocaInst *Lost = nullptr;

  /// At the entry of a function that recurses, of which Host is a copy: what a
  /// call of it saves, the rounds of counted loops apart.
  std::optional<int64_t> Arrival;
  /// There, too: the counted loops of Copies.
  llvm::SmallVector<CountedHead, 4> Counted;
  /// There, too: Host, and the copies of functions that it calls.
  llvm::SmallVector<llvm::Function *, 4> Copies;
};

/// The functions of a region that recurse, and those that its twin copies.
struct Recursion {
  /// Functions that recurse, and that the region itself calls.
  llvm::SmallVector<llvm::Function *, 2> Entered;
  /// These and the functions that they call.  Each of Entered comes before the
  /// functions that only it calls.
  llvm::SmallVector<llvm::Function *, 8> Copied;
};

/// A number of instructions that running in the kernel saves, on average.
struct Gain {
  double Saved = 0;   ///< Negative: lost.
  double Plain = 0;   ///< At least so many run natively for the same.
  double Calls = 0;   ///< Of Saved, what system calls save; nothing is lost.
  double Number = 0;  ///< Of such calls.
  double Guessed = 0; ///< Of what is lost: in rounds whose number is assumed.
  double Best = 0;    ///< Saved where each conditional path is taken.
};

/// The expected gain of a region, in instructions.  Counted loops are those
/// whose rounds are counted as they go: see loopHeads.
struct RegionCost {
  int64_t Entry = 0; ///< Saved per entry, counted loops apart.
  llvm::SmallVector<int64_t, 4> Rounds; ///< Saved per round of each.
  llvm::SmallVector<int64_t, 4> Skips;  ///< The same of a round without a call.
  /// Entry and Rounds without the calls that are counted where they are made.
  int64_t SureEntry = 0;
  llvm::SmallVector<int64_t, 4> SureRounds;
  Gain All; ///< Of an entry, with as many rounds as are assumed.
  /// Saved per call of each of Recursion::Entered, counted loops apart.
  llvm::SmallVector<int64_t, 2> Calls;
  /// Lost by a round of each counted loop with a way in at a call, outside of
  /// inner loops and that call; 0 for one with a way in at the head.
  llvm::SmallVector<int64_t, 4> Around;
  /// The heads of loops that LoopCounts::AddsUp with ways in inside, and what a
  /// round of each loses outside of inner loops.
  llvm::SmallVector<std::pair<llvm::BasicBlock *, int64_t>, 2> Outer;
  unsigned Share = 1; ///< See struct cosy_region.
  unsigned Lost = 0;  ///< Per system call, by the code around the calls.
  bool Loses = false; ///< No entry, round or call is expected to save.
};

/// A call that does not return (abort, exit, __assert_fail).  The compound
/// ends, and the host makes the call with the arguments that the compound left
/// in the context.
struct Escape {
  llvm::GlobalValue *Callee = nullptr; ///< In the host module.
  llvm::FunctionType *Type = nullptr;
  llvm::AttributeList Attributes;
  llvm::SmallVector<llvm::Type *, 4> ArgTypes;
  llvm::SmallVector<unsigned, 4> ArgOffsets; ///< In the context.
};

/// The exit selector of escape number I is FirstEscape + I; smaller ones are
/// CodeExtractor's.
constexpr uint64_t FirstEscape = 0x10000;

/// A source line and its first instruction.
struct LineEntry {
  uint32_t Insn, File, Line, Column;
};

/// A libc function that a compound replaces by its system call.
struct Replaced {
  std::string Name;
  /// The function as the native twin calls it; null: only libcosy calls it.
  llvm::GlobalValue *Host;
};

/// The result of compiling a region.
struct Compound {
  std::vector<uint8_t> Code; ///< struct bpf_insn[]
  std::vector<LineEntry> Lines;
  std::vector<std::string> Files;
  std::string Name; ///< "file.c:12 function"
  unsigned ContextSize = 0;
  llvm::SmallVector<unsigned, 8> InputOffsets, OutputOffsets;
  /// Host addresses that go into the context at each entry.
  std::vector<std::pair<llvm::GlobalValue *, unsigned>> Addresses;
  /// libc functions that return an address of the thread's (__ctype_b_loc),
  /// called at each entry.
  std::vector<std::pair<std::string, unsigned>> Locators;
  /// A constant table of the host, which is copied into the context at each
  /// entry.  Size 0: libcosy keeps a copy, whose address goes there.
  struct TableCopy {
    llvm::GlobalVariable *Table;
    unsigned Offset, Size;
  };
  std::vector<TableCopy> Tables;
  std::vector<Escape> Escapes;
  std::vector<Replaced> Functions;
  /// True if clean-ups or handlers for exceptions are around some call.
  bool HasHandlers = false;
  /// Says that an operation was chosen for a call, or why none was.
  struct Choice {
    bool Chosen;
    std::string Text;
    llvm::DebugLoc Where;
  };
  std::vector<Choice> Choices;
  /// Loops that take eight bytes at once.
  std::vector<llvm::DebugLoc> Widened;
  unsigned NumFunctions = 0, NumCalls = 0;
  double Milliseconds = 0;
  /// Instructions saved by an arrival, and by one at a loop's head after a
  /// round without a call.  Cost has the same for all of a region.
  int64_t Saves = 0, Skips = 0;
  RegionCost Cost;
  unsigned NumLoops = 0;
  bool BeginsAgain = false;               ///< See Region.
  llvm::GlobalVariable *Region = nullptr; ///< struct cosy_region, when made.
};

/// The index of `left` in struct cosy_region.
constexpr unsigned LeftField = 5;

/// The index of `entry` there, which is null but for a loop's head.
constexpr unsigned EntryField = 6;

/// The index of `flags` there, with COSY_REGION_FORCE, COSY_REGION_LOSES and
/// COSY_REGION_AGAIN.
constexpr unsigned FlagsField = 9, ForceFlag = 1, LosesFlag = 2, AgainFlag = 16;
/// The entry is followed by what the user's history needs.
constexpr unsigned KeyedFlag = 32;
constexpr unsigned LostShift = 8; ///< Of RegionCost::Lost, in the flags.

/// COSY_LEFT_MAX of lib/region/region.h.
constexpr uint64_t MaxLeft = 0x7fffffff;

/// Offset of the address of errno in every context.
constexpr unsigned ErrnoOffset = 0;

/// Plugin options, settable with -Xclang -mllvm -Xclang -cosy-...; cosycc sets
/// them from -Rcosy, -W[no-][error=]cosy, -f[no-]cosy-fast.
struct Options {
  bool Warn, Error, MoveLocals;
  bool Fast;        ///< Choose operations; false: make calls as written.
  bool Force;       ///< Go to the kernel at once, even where that may lose.
  bool GnuAs;       ///< GNU as assembles the host's code.
  bool DataFlow;    ///< DataFlowSanitizer is to follow.
  bool DropLines;   ///< Drop debug information where there is no region.
  std::string Dump; ///< Prefix of files to write every stage to.
};
const Options &options();

// Markers.cpp
/// True for the calls that the macros make.
bool isMarker(const llvm::Instruction &I);
/// True if the function holds a marker.
bool hasMarkers(const llvm::Function &F);
/// Pairs the markers of a function and strips their tokens; reports markers
/// that the macros did not make.
void pairMarkers(llvm::Function &F);
/// Has branches carry what __builtin_expect and the like expect of them, so
/// that the estimate knows it; clang's own pipeline does it next.
void lowerExpectations(llvm::Module &M, llvm::FunctionAnalysisManager &FAM);
/// Makes the function fit for findRegion: no scalars in memory, no dead blocks.
void normalizeFunction(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);
/// Puts the sizes of objects that _FORTIFY_SOURCE asks for in place, where they
/// are known: see ObjectSizes.cpp.  F is normalized.
void resolveObjectSizes(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);
/// Does it to the functions that F gives addresses to, and to those that these
/// do, so that pointersInto can follow them.
void normalizeCallees(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);
/// Finds the next outermost region; Start is null when none is left.
Region findRegion(llvm::Function &F);
/// Tells of any region, nested ones too.
bool anyRegion(llvm::Function &F, llvm::function_ref<bool(const Region &)> Is);
/// True if a block of a region, not its entry, is jumped to from elsewhere.
bool isReachedFromOutside(llvm::BasicBlock *BB,
                          const llvm::SetVector<llvm::BasicBlock *> &Blocks);
/// Removes the markers of one region (Start == nullptr: all that are left).
void dropMarkers(llvm::Function &F, const Region &R);

// Written.cpp
/// Attribute of functions that the host does not optimise.
constexpr char AsWrittenAttr[] = "cosy-as-written";
/// True if F's divisions are made natively as they stand in the source.
bool isAsWritten(const llvm::Function &F);
/// True for the widths that the processor divides; it divides up to 64 bits in
/// the next wider one, and more by a function.
bool isDividedAsIs(const llvm::Type *Ty);
/// Inlines what always is, and drops what instruction selection leaves out
/// where nothing is optimised.
void dropUnselected(llvm::Function &F);
/// Does so, and keeps the divisions of F that may trap, whatever is known of
/// their operands and becomes of their results.
void pinDivisions(llvm::Function &F);
void unpinDivisions(llvm::Function &F);
/// True for assembly that pins a division.
bool isPinned(const llvm::Instruction &I);

// Natives.cpp
/// Inlines into a function's regions what these call and must be the host's in
/// part only.  Hosts: functions that are not inlined, for their own regions.
void inlineMixed(llvm::Function &F, llvm::ArrayRef<llvm::Function *> Hosts,
                 llvm::FunctionAnalysisManager &FAM);
/// True if two functions are for the same processor: code of one may be put
/// into the other, and values are handed on in the same way.
bool haveSameTarget(const llvm::Function &A, const llvm::Function &B);

// Leave.cpp
/// Separates the ways out of a function's regions from their loops, where some
/// region might end early.  Comes before the first is extracted: it may copy
/// and remove blocks.
void threadExits(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);
/// Ends a region before calls that it cannot hold.  Where that is in a loop the
/// region begins at the loop's head.  Left gets their names.
void leaveEarly(llvm::Function &F, Region &R, Reasons &Left);

// Extract.cpp
/// Moves a region into a function of its own.  False with Why filled in when
/// that cannot be done; the function is then as it was.
bool extractRegion(llvm::Function &F, Region &R, Extracted &Ret, Reasons &Why);

// Private.cpp
/// A local, and what may point into it.
using LocalPointers = llvm::SmallSetVector<llvm::Value *, 16>;
/// Finds all pointers into a local; nullopt where others may know its address.
std::optional<LocalPointers> pointersInto(llvm::Value &Local);

// Buffers.cpp
/// True if an input is an address that nobody but the region can know while it
/// runs, and no other input leads there.
bool isKnownToRegionOnly(const Extracted &R, unsigned Input);

// Compile.cpp
/// Compiles an extracted region.  False with Why filled in.  Does not change
/// the host's functions.
bool compileRegion(const Extracted &R, Compound &Ret, Reasons &Why);

// Container.cpp
/// Makes the bytes of struct cosy_compound, with line table and strings.
std::vector<uint8_t> buildContainer(const Compound &C);

// LibcFunctions.cpp
/// Marks the functions without a body that may be the program's own.
void markForeign(llvm::Module &M);
/// Takes these marks off again, and those that compiler/frontend put on the C
/// library's functions.
void dropLibcMarks(llvm::Module &M);

// Host.cpp
/// Replaces the call of an extracted region by code that counts, enters, fills
/// in, runs and takes out, or goes to the native twin.  Entry is the compound
/// of the whole region where R is a way in at a loop or at a function's entry.
void emitHostCode(Extracted &R, Compound &C, Compound *Entry = nullptr);
/// Inlines the native twin back into its place.
void inlineTwin(Extracted &R);
/// Declares a function of libcosy's or libc's that throws nothing.
llvm::FunctionCallee declareHostFunction(llvm::Module &M, llvm::StringRef Name,
                                         llvm::FunctionType *Type);

// Loops.cpp
/// Inlines the functions that a compiled region calls and that have loops, so
/// that loopHeads and countLosses find these, or that make system calls on some
/// paths only, so that these count where they are made; but none of Hosts,
/// which hold regions of their own.
void inlineLoops(Extracted &R, llvm::ArrayRef<llvm::Function *> Hosts,
                 llvm::FunctionAnalysisManager &FAM);
/// Finds the ways in at a few loops of a region's body whose rounds can be
/// counted.  Each is the loop's head (LoopCounts::Skipped), or else a block
/// that begins with a call of the loop (LoopCounts::Call), where it splits one.
llvm::SmallVector<llvm::BasicBlock *, 4> waysIn(Extracted &R);
/// Makes, for each way in, a function that goes on from there to the region's
/// end, and a native twin that calls it there.  Cost is estimateGain's.
std::vector<Extracted> enterLoops(Extracted &R,
                                  llvm::ArrayRef<llvm::BasicBlock *> WaysIn,
                                  const RegionCost &Cost);
/// Returns the heads of those loops of a function whose rounds can be counted.
llvm::SmallVector<llvm::BasicBlock *, 4> countedHeads(llvm::Function &F);
/// Makes a value of a loop of the twin: whether its previous round made a call;
/// false in the first round.  Returns null where every round makes one.
llvm::Value *keepMade(llvm::Function &Twin, llvm::BasicBlock *Head);
/// Copies a function, as a native twin or as a part of one.
llvm::Function *cloneTwin(llvm::Function &F, llvm::ValueToValueMapTy &Map);
/// Makes a region's twin a copy of its body.
void cloneRegionTwin(Extracted &R, llvm::ValueToValueMapTy &Map);
/// Takes a way in out of the native twin again, since its compound could not be
/// made.
void dropLoopEntry(Extracted &Head);

// Recursion.cpp
/// True if F may call itself, directly or not.
bool recurses(llvm::Function &F);
/// Finds the functions that a region's body calls and that recurse, except
/// Hosts.
Recursion findRecursion(const Extracted &R,
                        llvm::ArrayRef<llvm::Function *> Hosts);
/// Has the region's twin call copies of In.Copied, and makes for each of
/// In.Entered a function that a compound may run in the copy's place.  Adds to
/// the whole region's cost what they save.
std::vector<Extracted> enterRecursion(Extracted &R, const Recursion &In,
                                      RegionCost &Whole,
                                      llvm::FunctionAnalysisManager &FAM);

// LoopAnalyses.cpp
/// True for a function of libc's that only computes, in a compound.
bool isComputed(llvm::StringRef Name);

// Skips.cpp
/// Finds out how the iterations of a loop are to be counted.  Skipped is set
/// where those without a call, if any, only see that none is needed.  Else Call
/// is the most frequent call that is in no inner loop, or AddsUp says that all
/// calls are in inner loops.  Neither is set where it would slow the other
/// iterations down too much to add up what they lose.
LoopCounts countLoop(const llvm::Loop &L, LoopAnalyses &A);

// Cost.cpp
/// Marks the native loops that a compound takes eight bytes of at once.
void markWidened(llvm::Module &M, const Compound &C);
/// Estimates what a region's body saves, or one of In.Copied; WaysIn are those
/// of its counted loops: see waysIn.
void estimateGain(const llvm::Function &Body,
                  llvm::ArrayRef<llvm::BasicBlock *> WaysIn,
                  const Recursion &In, RegionCost &Ret);
/// Finds the system calls that not every entry makes, or not every round of the
/// loops with these ways in, and takes what they save out of Cost's sure
/// savings.
llvm::SmallVector<SeldomCall, 4>
findSeldomCalls(llvm::Function &Body, llvm::ArrayRef<llvm::BasicBlock *> WaysIn,
                const Recursion &In, RegionCost &Cost);
/// Returns what a round of each of these loops without calls loses, inner loops
/// apart.
llvm::DenseMap<const llvm::Loop *, int64_t>
lossesPerRound(llvm::ArrayRef<const llvm::Loop *> Loops,
               const llvm::LoopInfo &LI);
/// Adds what one of Recursion::Copied saves to the region's cost; IsEntered: it
/// is one of Entered, whose calls are counted.
void addCost(RegionCost &Whole, const RegionCost &Cost, bool IsEntered);
/// Returns what it costs to load a program.
uint64_t loadCost(size_t Instructions);

// Losses.cpp
/// Gives loops the form in which their losses can be counted, where that is
/// possible.
void simplifyLoops(llvm::Function &F);
/// Finds out whether the losses of a loop are counted: see
/// LoopAnalyses::countsLosses.
bool canCountLosses(const llvm::Loop &L, LoopAnalyses &A);
/// Has a native twin add up what these loops would have lost in the kernel.
/// Counts is asked for code, at a place before a loop, that tells whether
/// anybody still counts.  AtExit is called for each block where a loop ends,
/// with a place there and the sum.
void countLosses(
    llvm::Function &Twin,
    llvm::function_ref<llvm::Value *(llvm::BasicBlock::iterator)> Counts,
    llvm::function_ref<void(llvm::BasicBlock::iterator, llvm::Value *)> AtExit);

// MoveLocals.cpp
/// Moves the locals of F that its regions' inputs lead to into the shared
/// buffer.  Regions are those of F; their counts tell whether a frame pays.
void moveLocals(llvm::Function &F, llvm::ArrayRef<llvm::WeakTrackingVH> Inputs,
                llvm::ArrayRef<llvm::GlobalVariable *> Regions);

// Report.cpp
/// Reports why a region stays native.
void reportNative(const llvm::Function &Host, unsigned RegionLine,
                  llvm::DebugLoc RegionWhere, const Reasons &Why);
/// Reports before which calls a region ends.
void reportLeft(const llvm::Function &Host, const Reasons &Left);
/// Reports what a region became: how many instructions, calls, inputs.
void reportCompiled(const Extracted &R, const Compound &C);
/// Reports what the region is expected to save.
void reportGain(const Extracted &R, const Compound &C);
/// Reports which operations were chosen for calls, and why others were not.
void reportChoices(const Extracted &R, const Compound &C);
/// Warns of a mark that makes no region.
void reportMarker(const llvm::Function &F, llvm::DebugLoc Where,
                  const llvm::Twine &Text);

} // namespace cosy

#endif // COSY_PASS_REGION_H
