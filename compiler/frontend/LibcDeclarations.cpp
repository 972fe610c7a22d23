// SPDX-License-Identifier: MIT
//===- LibcDeclarations.cpp - Which functions are the C library's ---------===//
//
// A clang plugin.  IR does not record where a function was declared, so bind(2)
// and a program's own bind() in another file look alike there.  The plugin
// marks the functions that a header of the C library declares: each call and
// declaration gets an attribute,
//
//   declare i32 @bind(i32, ptr, i32) #1
//   attributes #1 = { "llvm.assume"="cosy_libc" }
//
// by which the pass recognises the function, and which the pass removes.
//
//===----------------------------------------------------------------------===//
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclGroup.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace clang;
using llvm::StringRef;

/// True for a header in a folder of the C library, or with the name of one of
/// its other headers.  The C++ library's folder c++/VERSION/bits does not
/// count.
static bool isLibcHeader(StringRef Path) {
  static const llvm::StringSet<> Folders = {"arpa", "bits", "netinet", "sys"};
  static const llvm::StringSet<> Files = {
      "ctype.h",     "dirent.h",   "err.h",      "error.h",   "fcntl.h",
      "fnmatch.h",   "fts.h",      "ftw.h",      "getopt.h",  "glob.h",
      "grp.h",       "inttypes.h", "langinfo.h", "libgen.h",  "locale.h",
      "malloc.h",    "mqueue.h",   "mntent.h",   "netdb.h",   "poll.h",
      "pthread.h",   "pwd.h",      "regex.h",    "sched.h",   "search.h",
      "semaphore.h", "signal.h",   "spawn.h",    "stdio.h",   "stdlib.h",
      "string.h",    "strings.h",  "syslog.h",   "termios.h", "time.h",
      "unistd.h",    "utime.h",    "wchar.h",    "wctype.h",  "wordexp.h"};
  namespace path = llvm::sys::path;
  StringRef Folder = path::parent_path(Path);
  return Files.contains(path::filename(Path)) ||
         (Folders.contains(path::filename(Folder)) &&
          !llvm::is_contained(
              llvm::make_range(path::begin(Folder), path::end(Folder)), "c++"));
}

namespace {

class Marker : public ASTConsumer {
  ASTContext *Context = nullptr;
  /// Caches isLibcHeader by the name of a system header.
  llvm::StringMap<bool> IsLibc;

public:
  void Initialize(ASTContext &C) override { Context = &C; }

  bool HandleTopLevelDecl(DeclGroupRef Group) override {
    for (Decl *D : Group)
      visit(D);
    return true;
  }

private:
  void visit(Decl *D) {
    if (auto *Linkage = dyn_cast<LinkageSpecDecl>(D)) {
      for (Decl *Inner : Linkage->decls())
        visit(Inner);
    } else if (auto *F = dyn_cast<FunctionDecl>(D)) {
      if (isInLibcHeader(*F))
        F->addAttr(OMPAssumeAttr::CreateImplicit(*Context, COSY_LIBC_MARK));
    }
  }

  /// Also follows line markers, which record a line's origin in a preprocessed
  /// file.
  bool isInLibcHeader(const FunctionDecl &F) {
    const SourceManager &Sources = Context->getSourceManager();
    if (!Sources.isInSystemHeader(F.getLocation()))
      return false;
    PresumedLoc Where = Sources.getPresumedLoc(F.getLocation());
    if (Where.isInvalid())
      return false;
    auto [It, IsNew] = IsLibc.try_emplace(Where.getFilename());
    if (IsNew)
      It->second = isLibcHeader(Where.getFilename());
    return It->second;
  }
};

class MarkAction : public PluginASTAction {
protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &,
                                                 StringRef) override {
    return std::make_unique<Marker>();
  }
  bool ParseArgs(const CompilerInstance &,
                 const std::vector<std::string> &) override {
    return true;
  }
  /// Runs first, because clang generates code for each declaration when it has
  /// read it.
  ActionType getActionType() override { return AddBeforeMainAction; }
};

} // namespace

static FrontendPluginRegistry::Add<MarkAction>
    Registration("cosy-libc", "mark the functions of the C library");
