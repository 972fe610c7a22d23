// SPDX-License-Identifier: MIT
//===- Options.h - What the plugin is told by cosycc ----------------------===//
#ifndef COSY_PASS_OPTIONS_H
#define COSY_PASS_OPTIONS_H

#include <string>

namespace cosy {

/// Plugin options, settable with -Xclang -mllvm -Xclang -cosy-...; cosycc sets
/// them from -Rcosy, -W[no-][error=]cosy, -f[no-]cosy-fast.
struct Options {
  bool Warn, Error, MoveLocals;
  bool Fast;        ///< Choose operations; false: make calls as written.
  bool Force;       ///< Go to the kernel at once, even where that may lose.
  bool GnuAs;       ///< GNU as assembles the host's code.
  bool DataFlow;    ///< DataFlowSanitizer is to follow.
  bool DropLines;   ///< Drop debug information where there is no region.
  bool Summary;     ///< Print each region in one line.
  std::string Dump; ///< Prefix of files to write every stage to.
};
const Options &options();

} // namespace cosy

#endif // COSY_PASS_OPTIONS_H
