// SPDX-License-Identifier: MIT
//===- Summary.cpp - Each region of a file, in one line -------------------===//
//
// With -Rcosy=summary the pass prints, after a file's last region:
//
//   walk.c: 3 regions, 1 in the kernel, 2 native
//     walk.c:40: in the kernel: 312 instructions
//     walk.c:77: native: a call of 'printf': libc's streams are in user space
//         (line 80)
//     walk.c:95: native: it is expected to lose in the kernel
//
//===----------------------------------------------------------------------===//
#include "Summary.h"
#include "base/Options.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace cosy;

void Summary::add(const Function &Host, unsigned RegionLine, std::string Text,
                  bool InKernel) {
  StringRef File = Host.getParent()->getSourceFileName();
  // A region may be in a header.
  if (const DISubprogram *In = Host.getSubprogram())
    if (sys::path::filename(In->getFilename()) != sys::path::filename(File))
      File = In->getFilename();
  Lines.push_back(
      {formatv("{0}:{1}", File, RegionLine).str(), std::move(Text), InKernel});
}

void Summary::addNative(const Function &Host, unsigned RegionLine,
                        const Reasons &Why) {
  auto HasPlace = [](const Reason &R) { return R.Where && R.Where.getLine(); };
  const Reason *First = find_if(Why, HasPlace);
  if (First == Why.end())
    First = Why.begin();
  std::string Text = "native: " + First->Text;
  if (HasPlace(*First))
    Text += formatv(" (line {0})", First->Where.getLine()).str();
  add(Host, RegionLine, Text, false);
}

void Summary::addCompiled(const Extracted &R, const Compound &C) {
  if (!C.NumCalls && !options().Force)
    add(*R.Host, R.Line, "native: no system call is left in it", false);
  else if (C.Cost.Loses && !options().Force)
    add(*R.Host, R.Line, "native: it is expected to lose in the kernel", false);
  else
    add(*R.Host, R.Line,
        formatv("in the kernel: {0} instructions", C.Code.size() / 8).str(),
        true);
}

void Summary::print(const Module &M, raw_ostream &OS) const {
  size_t InKernel = count_if(Lines, [](const Line &L) { return L.InKernel; });
  OS << formatv("{0}: {1} region{2}, {3} in the kernel, {4} native\n",
                M.getSourceFileName(), Lines.size(),
                Lines.size() == 1 ? "" : "s", InKernel,
                Lines.size() - InKernel);
  for (const Line &L : Lines)
    OS << "  " << L.Place << ": " << L.Text << '\n';
}
