// SPDX-License-Identifier: MIT
//===- LibcCalls.cpp - What a compound does with a call of libc's ---------===//
#include "calls/LibcCalls.h"
#include "calls/CallTable.h"
#include "calls/FormatCalls.h"
#include "calls/LibcFunctions.h"
#include "calls/RuntimeBodies.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"

extern "C" {
#include "core.h"
}

using namespace llvm;
using namespace cosy;

bool cosy::isCovered(StringRef Name) {
  if (Name == "syscall" || Name == "__errno_location" ||
      Name.starts_with("cosy_") || Name.starts_with("__cosy_") ||
      isLocator(Name) || isInRuntime(Name) || findWrapper(Name))
    return true;
  // The names of _FORTIFY_SOURCE: functions with checks, and functions that
  // only warn and are dead code otherwise.
  return Name.consume_front("__") &&
         (Name.ends_with("_warn") ||
          ((Name.consume_back("_chk") || Name.consume_back("_2")) &&
           findWrapper(Name)));
}

static bool isWord(const Type *Ty) {
  return (Ty->isPointerTy() && !Ty->getPointerAddressSpace()) ||
         (Ty->isIntegerTy() && Ty->getIntegerBitWidth() <= 64);
}

bool cosy::mayJump(StringRef Name) {
  Name.consume_front("_");
  Name.consume_front("_");
  return is_contained({"longjmp", "siglongjmp", "longjmp_chk", "setjmp",
                       "sigsetjmp", "getcontext", "setcontext", "swapcontext",
                       "pthread_exit", "fork", "vfork", "clone", "daemon",
                       "forkpty", "posix_spawn", "posix_spawnp", "popen",
                       "system"},
                      Name);
}

bool cosy::takesWords(const CallBase &C) {
  const Type *Ty = C.getType();
  return C.arg_size() <= COSY_MAX_ARGUMENTS && (Ty->isVoidTy() || isWord(Ty)) &&
         all_of(C.args(), [&](const Use &Arg) {
           return isWord(Arg->getType()) &&
                  !C.isByValArgument(C.getArgOperandNo(&Arg));
         });
}

/// True if the call cannot throw, or the function that contains it cannot.
static bool doesNotThrow(const CallBase &C) {
  return C.doesNotThrow() || C.getFunction()->doesNotThrow();
}

/// True for libcosy's functions that a compound does not leave for: all except
/// those that runtime bodies call.
static bool isCosys(StringRef Name) {
  return (Name.starts_with("cosy_") || Name.starts_with("__cosy_")) &&
         !Name.starts_with("__cosy_magazine_") &&
         Name != "__cosy_magazines_free";
}

/// True if a compound can leave for a call of this form, to any function.
static bool returnsOnceInWords(const CallBase &C) {
  return !C.hasFnAttr(Attribute::ReturnsTwice) && doesNotThrow(C) &&
         takesWords(C);
}

bool cosy::canCallOut(const CallBase &C) {
  StringRef Name = libcName(C);
  return !Name.empty() && !isCosys(Name) && !mayJump(Name) &&
         returnsOnceInWords(C);
}

bool cosy::isLeftFor(const CallBase &C) {
  return is_contained({"qsort", "qsort_r", "lfind", "lsearch", "scandir",
                       "scandir64", "alphasort", "alphasort64", "versionsort",
                       "versionsort64"},
                      libcName(C)) &&
         canCallOut(C);
}

bool cosy::isByPointer(const CallBase &C) {
  return !C.isInlineAsm() &&
         !isa<Constant>(C.getCalledOperand()->stripPointerCasts());
}

bool cosy::canCallOutByPointer(const CallBase &C) {
  return isByPointer(C) && !isa<CallBrInst>(C) && returnsOnceInWords(C);
}

bool cosy::reportsError(const CallBase &C) {
  StringRef Name = libcName(C);
  if (is_contained({"perror", "psignal", "err", "errx", "verr", "verrx", "warn",
                    "warnx", "vwarn", "vwarnx", "error", "error_at_line",
                    "strerror", "strerror_r", "__xpg_strerror_r", "strsignal",
                    "syslog", "__syslog_chk"},
                   Name))
    return true;
  // The stream is the first argument of some, the last of others.
  return any_of(C.args(), [](const Use &Arg) {
    const auto *L = dyn_cast<LoadInst>(Arg);
    const auto *G =
        L ? dyn_cast<GlobalVariable>(L->getPointerOperand()) : nullptr;
    return G && G->getName() == "stderr";
  });
}

bool cosy::isCostlyCallOut(const CallBase &C) {
  return canCallOut(C) && !C.doesNotReturn() && !isCovered(libcName(C)) &&
         !isFormat(C) && !reportsError(C);
}
