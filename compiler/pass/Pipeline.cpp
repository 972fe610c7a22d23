// SPDX-License-Identifier: MIT
//===- Pipeline.cpp - The stages of a compound, in their order ------------===//
//
// The one list of stages between a region's function and its code.  Compile.cpp
// runs them all; Stages.cpp gives opt each by its name.
//
//===----------------------------------------------------------------------===//
#include "Pipeline.h"
#include "lower/Bytes.h"
#include "lower/CallOuts.h"
#include "lower/Divisions.h"
#include "lower/EarlyReturns.h"
#include "lower/Inline.h"
#include "lower/Legalize.h"
#include "lower/LowerCalls.h"
#include "lower/Optimize.h"
#include "lower/Runtime.h"
#include "lower/ShortLocals.h"
#include "lower/Signatures.h"
#include "lower/Storage.h"
#include "lower/Strings.h"
#include "lower/Unroll.h"
#include "lower/Views.h"
#include "lower/Widen.h"

using namespace llvm;
using namespace cosy;

using Condition = Stage::Condition;

/// A stage that no later one waits for.
#define STAGE(call)                                                            \
  [](Compilation &A) {                                                         \
    call;                                                                      \
    return false;                                                              \
  }

static const Stage Stages[] = {
    {"cosy-test-divisions-as-written", Condition::Always,
     STAGE(testDivisionsAsWritten(A.B))},
    // Before optimisation, so that errno handling is optimised with the rest.
    {"cosy-lower-calls", Condition::Always, STAGE(lowerCalls(A.B, A.C))},
    {"cosy-lower-variadic", Condition::Always, STAGE(lowerVariadic(A.B))},
    {"cosy-link-runtime", Condition::Always, STAGE(linkRuntime(A.B, A.C))},
    {"cosy-lower-calls", Condition::Always, STAGE(lowerCalls(A.B, A.C))},
    {"cosy-plan-calls", Condition::Always,
     STAGE(planCalls(A.B, A.InlineBudget))},
    {"cosy-expand-by-value", Condition::Always, STAGE(expandByValue(A.B))},
    {"cosy-optimize", Condition::Always, STAGE(optimize(A.B))},
    // Again: now more call numbers and function pointers are constants.
    {"cosy-lower-calls", Condition::Always, STAGE(lowerCalls(A.B, A.C))},
    {"cosy-inline-early-returns", Condition::Always,
     STAGE(inlineEarlyReturns(A.B))},
    {"cosy-lower-strings", Condition::Always, STAGE(lowerStrings(A.B))},
    {"cosy-choose-bytes", Condition::Fast,
     [](Compilation &A) { return chooseBytes(A.B, A.R, A.C); }},
    {"cosy-optimize", Condition::AfterChange, STAGE(optimize(A.B))},
    {"cosy-choose-views", Condition::Fast, STAGE(chooseViews(A.B, A.R, A.C))},
    {"cosy-widen-loops", Condition::Growing, STAGE(widenLoops(A.B, A.R, A.C))},
    {"cosy-unroll-loops", Condition::Growing, STAGE(unrollLoops(A.B, A.C))},
    {"cosy-expand-strings", Condition::Growing,
     STAGE(expandStrings(A.B, A.R, A.C)), "optimized"},
    {"cosy-test-divisions", Condition::Always, STAGE(testDivisions(A.B))},
    {"cosy-mark-short-locals", Condition::Always, STAGE(markShortLocals(A.B))},
    {"cosy-legalize", Condition::Always, STAGE(legalize(A.B, A.C, A.Why))},
    {"cosy-pack-signatures", Condition::Always, STAGE(packSignatures(A.B))},
    {"cosy-assign-storage", Condition::Always,
     STAGE(assignStorage(A.B, A.C, A.Why))},
    {"cosy-clean-up", Condition::Always, STAGE(cleanUp(A.B)), "lowered"},
};

ArrayRef<Stage> cosy::compoundStages() { return Stages; }
