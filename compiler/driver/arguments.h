// SPDX-License-Identifier: MIT
//===- arguments.h - clang's command line as cosycc understands it --------===//
#ifndef COSY_DRIVER_ARGUMENTS_H
#define COSY_DRIVER_ARGUMENTS_H

#include "sources.h"
#include <string>
#include <vector>

/// The facts that cosycc needs of a command line that it passes on to clang.
struct Arguments {
  std::vector<std::string> Rest; ///< Everything that is not cosycc's own.

  bool Off = false;          ///< -fno-cosy
  bool Fast = true;          ///< -f[no-]cosy-fast
  bool Force = false;        ///< -f[no-]cosy-force
  std::string Suggested;     ///< -fcosy-suggest=FILE:LINE
  bool Remarks = false;      ///< -Rcosy
  bool Summary = false;      ///< -Rcosy=summary
  bool Warnings = true;      ///< -W[no-]cosy
  bool Errors = false;       ///< -W[no-]error=cosy
  bool Silent = false;       ///< -w
  std::string RemarkPattern; ///< Taken from -Rpass=, which is not in Rest.

  Sources Text;
  bool HasInput = false;
  bool Links = true;         ///< No option stops before the linker.
  bool HasDebugInfo = false; ///< Some -g option was given, even -g0.
  bool NeedsLines = false;   ///< For coverage or profiles, without a region.
  bool GnuAs = false;        ///< -f[no-]integrated-as
  bool DataFlow = false;     ///< -f[no-]sanitize=dataflow
  bool LinksStatically = false;
  /// By the linker that clang chooses, with no script of the program's.
  bool PlainLink = true;
  /// -shared, or -shared-libcosy.
  bool SharesLibrary = COSY_SHARES_LIBRARY;
  bool Foreign = false;       ///< For a target other than x86-64.
  bool LinksLibraries = true; ///< No -nostdlib, -nodefaultlibs or -r.
};

/// Sorts a command line.  @files are expanded first, since an option of
/// cosycc's may be in one.
Arguments parseArguments(int Count, char **Values);

#endif
