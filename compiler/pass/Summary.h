// SPDX-License-Identifier: MIT
//===- Summary.h - Each region of a file, in one line --------------------===//
#ifndef COSY_PASS_SUMMARY_H
#define COSY_PASS_SUMMARY_H

#include "base/Reason.h"
#include "lower/Compound.h"
#include "region/Extracted.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

namespace cosy {

/// Collects, for each region of a module, whether it may run in the kernel, and
/// the reason if not.
class Summary {
  struct Line {
    std::string Place; ///< "file.c:12"
    std::string Text;
    bool InKernel;
  };
  std::vector<Line> Lines;

  void add(const llvm::Function &Host, unsigned RegionLine, std::string Text,
           bool InKernel);

public:
  /// Adds a region that stays native, with its first reason that has a place.
  void addNative(const llvm::Function &Host, unsigned RegionLine,
                 const Reasons &Why);
  /// Adds a region that became a compound.
  void addCompiled(const Extracted &R, const Compound &C);
  /// Prints a line for the module and one for each region.
  void print(const llvm::Module &M, llvm::raw_ostream &OS) const;
};

} // namespace cosy

#endif // COSY_PASS_SUMMARY_H
