// SPDX-License-Identifier: MIT
//===- CallTable.cpp - What libc functions mean, from core/ops.def --------===//
//
// A line of ops.def is a system call, an operation, or a libc function that is
// one of them, with a letter for each of its arguments.  Here the lines become
// tables by name and by number, and names that have no line get a reason.
//
//===----------------------------------------------------------------------===//
#include "calls/CallTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include <sys/syscall.h>

extern "C" {
#include "core.h"
}

using namespace llvm;

namespace {

struct Tables {
  StringMap<uint32_t> Calls, Operations;
  DenseMap<uint64_t, const char *> Denied;
  StringMap<const char *> DeniedNames;
  DenseMap<uint32_t, unsigned> Flags;
  DenseMap<uint32_t, const char *> Arguments; ///< Of system calls.
  StringMap<cosy::Wrapper> Wrappers;

  Tables() {
#define COSY_CALL(Number, Name, Args, CallFlags)                               \
  Calls[#Name] = Number;                                                       \
  Arguments[Number] = Args;                                                    \
  Flags[Number] = CallFlags;
#define COSY_DENY(Number, Name, Reason)                                        \
  Denied[Number] = Reason;                                                     \
  DeniedNames[#Name] = Reason;
#define COSY_OP(Number, Name, Args, CallFlags)                                 \
  Operations[#Name] = COSY_OP_BASE + Number;                                   \
  Flags[COSY_OP_BASE + Number] = CallFlags;
#include "ops.def"
#define COSY_WRAP(LibcName, CallName, Args)                                    \
  wrap(#LibcName, Calls, #CallName, Args);
#define COSY_WRAP_OP(LibcName, OpName, Args)                                   \
  wrap(#LibcName, Operations, #OpName, Args);
#include "ops.def"
  }

  void wrap(StringRef Libc, const StringMap<uint32_t> &Map, StringRef Name,
            const char *Args) {
    auto It = Map.find(Name);
    if (It == Map.end())
      report_fatal_error("cosy: ops.def wraps the unknown call " + Name);
    uint32_t Number = It->second;
    unsigned CallFlags = Flags.lookup(Number);
    Wrappers[Libc] = {Number, Args, (CallFlags & COSY_CALL_NO_RESULT) != 0,
                      Number < COSY_OP_BASE ||
                          (CallFlags & COSY_CALL_COMPOSITE) != 0};
  }
};

const Tables &tables() {
  static const Tables T;
  return T;
}

} // namespace

const cosy::Wrapper *cosy::findWrapper(StringRef LibcName) {
  auto It = tables().Wrappers.find(LibcName);
  return It == tables().Wrappers.end() ? nullptr : &It->second;
}

SmallVector<StringRef, 2> cosy::libcFunctionsOf(StringRef CosyName) {
  using Names = SmallVector<StringRef, 2>;
  CosyName.consume_front("cosy_");
  if (const Wrapper *W = findWrapper(CosyName); W && W->MakesCalls)
    return {CosyName};
  return StringSwitch<Names>(CosyName)
      .Case("readc", {"read"})
      .Case("seek_read", {"lseek", "read"})
      .Case("seek_write", {"lseek", "write"})
      .Case("read_file", {"openat", "read"})
      .Case("write_file", {"openat", "write"})
      .Case("epoll_read", {"epoll_wait", "read"})
      .Cases("lend", "loan", {"send", "write"})
      .Case("transfer", {"recv", "read"})
      .Case("pass", {"sendmsg", "pwrite"})
      .Default({});
}

uint32_t cosy::operationNumber(StringRef Name) {
  auto It = tables().Operations.find(Name);
  if (It == tables().Operations.end())
    report_fatal_error("cosy: ops.def has no operation " + Name);
  return It->second;
}

std::optional<std::string> cosy::deniedCall(uint64_t Number) {
  // The largest numbers must not be looked up: they are DenseMap's own keys.
  if (Number < COSY_OP_BASE) {
    if (auto It = tables().Denied.find(Number); It != tables().Denied.end())
      return std::string(It->second);
    if (tables().Flags.count(Number))
      return std::nullopt;
  }
  return std::string("there is no such system call");
}

std::string cosy::whyNoWrapper(StringRef Name) {
  // The checked names of _FORTIFY_SOURCE.
  if (Name.ends_with("_chk") && Name.consume_front("__"))
    Name = Name.drop_back(4);
  if (auto It = tables().DeniedNames.find(Name);
      It != tables().DeniedNames.end())
    return It->second;
  if (tables().Calls.count(Name))
    return "libc does more than the system call of that name";
  return StringSwitch<const char *>(Name)
      .Cases("exec", "execl", "execlp", "execle", "execv", "execvp", "execvpe",
             "fexecve", "posix_spawn", "posix_spawnp",
             "replaces or starts a program")
      .Cases("popen", "system", "starts a program")
      .Cases("printf", "puts", "putchar", "fprintf", "vprintf", "vfprintf",
             "perror", "fputs", "libc's streams are in user space")
      .Cases("fopen", "fclose", "fread", "fwrite", "fgets", "fputc", "getline",
             "fflush", "libc's streams are in user space")
      .Case("readdir_r",
            "libc's directory streams are in user space; readdir, getdents64 "
            "and cosy_scan_dir list a directory in a region")
      .Cases("_Znwm", "_ZdlPv", "_Znam", "posix_memalign", "aligned_alloc",
             "asprintf", "libc's heap is in user space")
      .Cases("snprintf", "sprintf",
             "a compound formats integers, characters and strings by a "
             "constant format only")
      .Cases("vsnprintf", "vsprintf", "sscanf",
             "libc's formatting is in user space")
      .Default("no body here, and no system call");
}

bool cosy::makesCalls(uint32_t Number) {
  return Number < COSY_OP_BASE ||
         (tables().Flags.lookup(Number) & COSY_CALL_COMPOSITE) != 0;
}

bool cosy::pointsIntoArgument(uint32_t Number) {
  return (tables().Flags.lookup(Number) & COSY_CALL_POINTS) != 0;
}

bool cosy::hasFastVersion(uint32_t Number) {
  // That of sendto gains where it is given a view, which is not known here.
  if (Number == SYS_sendto)
    return false;
  switch (Number) {
#define COSY_FAST_CALL(number, name, args, flags, views) case number:
#define COSY_THUNK_CALL(number, name, args, flags) case number:
#include "ops.def"
    return true;
  default:
    return makesCalls(Number) && Number >= COSY_OP_BASE;
  }
}

bool cosy::takesPath(uint32_t Number) {
  return tables().Flags.lookup(Number) & COSY_CALL_PATH;
}

bool cosy::neverFails(uint32_t Number) {
  return tables().Flags.lookup(Number) & COSY_CALL_NO_ERROR;
}

bool cosy::isLocator(StringRef Name) {
  return Name == "__ctype_b_loc" || Name == "__ctype_tolower_loc" ||
         Name == "__ctype_toupper_loc" || Name == "__cosy_streams" ||
         Name == "__cosy_magazines";
}

bool cosy::keepsAddress(uint32_t Number) {
  return tables().Denied.count(Number) ||
         (tables().Flags.lookup(Number) & COSY_CALL_KEEPS) != 0;
}

bool cosy::keepsArgument(uint32_t Number, unsigned Index) {
  StringRef Arguments = tables().Arguments.lookup(Number);
  return Index >= Arguments.size() ||
         !StringRef("psrP").contains(Arguments[Index]) || keepsAddress(Number);
}
