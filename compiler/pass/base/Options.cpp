// SPDX-License-Identifier: MIT
//===- Options.cpp - What the plugin is told by cosycc --------------------===//
#include "base/Options.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;
using namespace cosy;

static cl::opt<bool> NoWarn("cosy-no-warn", cl::Hidden,
                            cl::desc("Do not warn when a region stays native"));
static cl::opt<bool>
    IsError("cosy-error", cl::Hidden,
            cl::desc("Make a region that stays native an error"));
static cl::opt<bool>
    NoMoveLocals("cosy-no-move-locals", cl::Hidden,
                 cl::desc("Leave the locals that regions touch on the stack"));
static cl::opt<bool> NoFast(
    "cosy-no-fast", cl::Hidden,
    cl::desc("Make every call as it is written, the kernel's ordinary way"));
static cl::opt<bool>
    Force("cosy-force", cl::Hidden,
          cl::desc("Run regions in the kernel from their first entry on"));
static cl::opt<bool>
    GnuAs("cosy-gnu-as", cl::Hidden,
          cl::desc("Emit only what GNU as can assemble, as well as clang"));
static cl::opt<bool>
    DropLines("cosy-drop-lines", cl::Hidden,
              cl::desc("Drop debug information where there is no region"));
static cl::opt<bool> DataFlow("cosy-data-flow", cl::Hidden,
                              cl::desc("DataFlowSanitizer is to follow"));
static cl::opt<bool> Summary("cosy-summary", cl::Hidden,
                             cl::desc("Print each region in one line"));
static cl::opt<std::string>
    Dump("cosy-dump", cl::Hidden, cl::value_desc("prefix"),
         cl::desc("Write each region's BPF module and object to prefix.N.*"));

const cosy::Options &cosy::options() {
  static const Options Given = [] {
    Options O;
    O.Warn = !NoWarn;
    O.Error = IsError;
    O.MoveLocals = !NoMoveLocals;
    O.Fast = !NoFast;
    O.Force = Force;
    O.GnuAs = GnuAs;
    O.DataFlow = DataFlow;
    O.DropLines = DropLines;
    O.Summary = Summary;
    O.Dump = Dump;
    return O;
  }();
  return Given;
}
