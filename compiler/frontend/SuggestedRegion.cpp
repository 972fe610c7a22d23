// SPDX-License-Identifier: MIT
//===- SuggestedRegion.cpp - A loop marked from the command line ----------===//
//
// A clang plugin: cosycc -fcosy-suggest=FILE:LINE marks the loop that begins at
// that line, or else the innermost one around it, as if it had been marked by
// hand:
//
//   while (..) {..}
//   ->
//   { int token __attribute__((cleanup(__cosy_region_end))) =
//         __cosy_region_start(LINE);
//     while (..) {..} }
//
// It runs once a function has been checked.  So what may not be around a
// variable with a clean-up, a jump into its scope, is looked for here.
//
//===----------------------------------------------------------------------===//
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/Stmt.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/Path.h"

using namespace clang;
using llvm::StringRef;

namespace {

/// A line of a file as the command line names it.
struct Place {
  std::string File;
  unsigned Line = 0;
};

bool isLoop(const Stmt *S) {
  return isa<WhileStmt, DoStmt, ForStmt, CXXForRangeStmt>(S);
}

/// Looks for the loop of one function: remembers where its parent holds it.
class LoopFinder {
  const SourceManager &Sources;
  const Place &Wanted;
  bool Exact = false;

public:
  Stmt **Found = nullptr;

  LoopFinder(const SourceManager &S, const Place &P) : Sources(S), Wanted(P) {}

  bool isWantedFile(SourceLocation At) const {
    PresumedLoc Where = Sources.getPresumedLoc(Sources.getExpansionLoc(At));
    if (Where.isInvalid())
      return false;
    StringRef Name = Where.getFilename();
    // Debug information has whole paths, users mostly do not.
    return isEndOf(Wanted.File, Name) || isEndOf(Name, Wanted.File);
  }

  void walk(Stmt *Parent) {
    for (Stmt *&Child : Parent->children()) {
      if (!Child)
        continue;
      if (isLoop(Child))
        consider(&Child);
      walk(Child);
    }
  }

private:
  static bool isEndOf(StringRef Path, StringRef End) {
    while (End.consume_front("./") || End.consume_front("../"))
      ;
    return Path.consume_back(End) && (Path.empty() || Path.ends_with("/"));
  }

  unsigned lineOf(SourceLocation At) const {
    return Sources.getPresumedLoc(Sources.getExpansionLoc(At)).getLine();
  }

  void consider(Stmt **Loop) {
    unsigned First = lineOf((*Loop)->getBeginLoc());
    unsigned Last = lineOf((*Loop)->getEndLoc());
    if (Exact || Wanted.Line < First || Wanted.Line > Last)
      return;
    Found = Loop;
    Exact = First == Wanted.Line;
  }
};

/// Collects the labels that are jumped to by statements outside of Loop.
void findJumpsFromOutside(const Stmt *S, const Stmt *Loop,
                          llvm::SmallPtrSetImpl<const LabelDecl *> &Labels) {
  if (S == Loop)
    return;
  if (const auto *Goto = dyn_cast<GotoStmt>(S))
    Labels.insert(Goto->getLabel());
  if (const auto *Asm = dyn_cast<GCCAsmStmt>(S))
    for (unsigned I = 0; I < Asm->getNumLabels(); ++I)
      Labels.insert(Asm->getLabelExpr(I)->getLabel());
  for (const Stmt *Child : S->children())
    if (Child)
      findJumpsFromOutside(Child, Loop, Labels);
}

/// Returns what cannot be in the scope that a region around Loop opens, or
/// null.  Outside: the labels that are jumped to from outside of it.
const char *
findObstacle(const Stmt *S, const Stmt *Loop,
             const llvm::SmallPtrSetImpl<const LabelDecl *> &Outside,
             bool Inside = false, bool InSwitch = false) {
  Inside |= S == Loop;
  if (isa<IndirectGotoStmt>(S))
    return "the function has a computed goto";
  if (const auto *Label = dyn_cast<LabelStmt>(S);
      Inside && Label && Outside.contains(Label->getDecl()))
    return "a label is in it, to which a goto outside of it jumps";
  if (Inside && !InSwitch && isa<SwitchCase>(S))
    return "a case of a switch around it is in it";
  if (const auto *Use = dyn_cast<DeclRefExpr>(S)) {
    const IdentifierInfo *Name = Use->getDecl()->getIdentifier();
    if (Name && Name->isStr("__cosy_region_start"))
      return "the function has a marked region already";
  }
  InSwitch |= Inside && isa<SwitchStmt>(S);
  // A declaration's children are its initial values.
  for (const Stmt *Child : S->children())
    if (Child)
      if (const char *Found =
              findObstacle(Child, Loop, Outside, Inside, InSwitch))
        return Found;
  return nullptr;
}

class Suggestion : public ASTConsumer {
  CompilerInstance &Compiler;
  Place Wanted;
  bool HasFile = false, Done = false;

public:
  Suggestion(CompilerInstance &C, Place P)
      : Compiler(C), Wanted(std::move(P)) {}

  bool HandleTopLevelDecl(DeclGroupRef Group) override {
    for (Decl *D : Group)
      visit(D);
    return true;
  }

  /// A file of a program that has it in another translation unit is fine.
  void HandleTranslationUnit(ASTContext &) override {
    if (HasFile && !Done)
      report("no loop begins there, or is around it, that can be marked", {});
  }

private:
  void report(StringRef Why, SourceLocation At) {
    DiagnosticsEngine &Engine = Compiler.getDiagnostics();
    Engine.Report(At, Engine.getCustomDiagID(DiagnosticsEngine::Error,
                                             "-fcosy-suggest=%0:%1: %2"))
        << Wanted.File << Wanted.Line << Why;
    Done = true;
  }

  void visit(Decl *D) {
    if (auto *Template = dyn_cast<TemplateDecl>(D))
      D = Template->getTemplatedDecl();
    if (!D)
      return;
    if (auto *Context = dyn_cast<DeclContext>(D);
        Context && isa<LinkageSpecDecl, NamespaceDecl, CXXRecordDecl>(D))
      for (Decl *Inner : Context->decls())
        visit(Inner);
    auto *F = dyn_cast<FunctionDecl>(D);
    if (!Done && F && F->doesThisDeclarationHaveABody() &&
        !Compiler.getDiagnostics().hasErrorOccurred())
      markIn(*F);
  }

  void markIn(FunctionDecl &F) {
    LoopFinder Finder(Compiler.getSourceManager(), Wanted);
    if (!Finder.isWantedFile(F.getBody()->getBeginLoc()))
      return;
    HasFile = true;
    Finder.walk(F.getBody());
    if (!Finder.Found)
      return;
    Stmt *Loop = *Finder.Found;
    if (F.isDependentContext())
      return report("the loop is in a template", Loop->getBeginLoc());
    llvm::SmallPtrSet<const LabelDecl *, 8> Outside;
    findJumpsFromOutside(F.getBody(), Loop, Outside);
    if (const char *Obstacle = findObstacle(F.getBody(), Loop, Outside))
      return report(Obstacle, Loop->getBeginLoc());
    *Finder.Found = wrap(F, Loop);
    Done = true;
  }

  /// Returns the declaration that <cosy/cosy.h> has, or one like it.
  FunctionDecl *runtimeFunction(StringRef Name, QualType Result,
                                QualType Parameter) {
    ASTContext &Ctx = Compiler.getASTContext();
    TranslationUnitDecl *Unit = Ctx.getTranslationUnitDecl();
    IdentifierInfo &Id = Ctx.Idents.get(Name);
    for (NamedDecl *Known : Unit->lookup(&Id))
      if (auto *F = dyn_cast<FunctionDecl>(Known))
        return F;
    DeclContext *Context = Unit;
    if (Ctx.getLangOpts().CPlusPlus) {
      auto *Linkage = LinkageSpecDecl::Create(
          Ctx, Unit, {}, {}, LinkageSpecLanguageIDs::C, /*HasBraces=*/false);
      Unit->addDecl(Linkage);
      Context = Linkage;
    }
    FunctionProtoType::ExtProtoInfo Info;
    if (Ctx.getLangOpts().CPlusPlus)
      Info.ExceptionSpec.Type = EST_BasicNoexcept;
    auto *F = FunctionDecl::Create(Ctx, Context, {}, {}, &Id,
                                   Ctx.getFunctionType(Result, Parameter, Info),
                                   nullptr, SC_Extern);
    F->setParams(ParmVarDecl::Create(Ctx, F, {}, {}, nullptr, Parameter,
                                     nullptr, SC_None, nullptr));
    F->addAttr(NoThrowAttr::CreateImplicit(Ctx));
    Context->addDecl(F);
    return F;
  }

  Stmt *wrap(FunctionDecl &F, Stmt *Loop) {
    ASTContext &Ctx = Compiler.getASTContext();
    SourceLocation At = Loop->getBeginLoc();
    QualType Int = Ctx.IntTy;
    FunctionDecl *Start = runtimeFunction("__cosy_region_start", Int, Int);
    FunctionDecl *End = runtimeFunction("__cosy_region_end", Ctx.VoidTy,
                                        Ctx.getPointerType(Int));
    unsigned Line = Compiler.getSourceManager().getPresumedLoc(At).getLine();
    Expr *Number = IntegerLiteral::Create(
        Ctx, llvm::APInt(Ctx.getIntWidth(Int), Line), Int, At);
    Expr *Callee =
        DeclRefExpr::Create(Ctx, NestedNameSpecifierLoc(), SourceLocation(),
                            Start, false, At, Start->getType(), VK_LValue);
    Callee = ImplicitCastExpr::Create(Ctx, Ctx.getPointerType(Start->getType()),
                                      CK_FunctionToPointerDecay, Callee,
                                      nullptr, VK_PRValue, FPOptionsOverride());
    Expr *Value = CallExpr::Create(Ctx, Callee, {Number}, Int, VK_PRValue, At,
                                   FPOptionsOverride());
    auto *Token =
        VarDecl::Create(Ctx, &F, At, At, &Ctx.Idents.get("__cosy_token"), Int,
                        Ctx.getTrivialTypeSourceInfo(Int, At), SC_None);
    Token->setInitStyle(VarDecl::CInit);
    Token->setInit(Value);
    Token->addAttr(CleanupAttr::CreateImplicit(Ctx, End));
    Token->addAttr(UnusedAttr::CreateImplicit(Ctx));
    Token->setIsUsed();
    Stmt *Declares = new (Ctx) DeclStmt(DeclGroupRef(Token), At, At);
    Stmt *Parts[] = {Declares, Loop};
    return CompoundStmt::Create(Ctx, Parts, FPOptionsOverride(), At,
                                Loop->getEndLoc());
  }
};

class SuggestAction : public PluginASTAction {
  Place Wanted;

protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &Compiler,
                                                 StringRef) override {
    return std::make_unique<Suggestion>(Compiler, Wanted);
  }
  bool ParseArgs(const CompilerInstance &Compiler,
                 const std::vector<std::string> &Words) override {
    auto [File, Line] = StringRef(Words.front()).rsplit(':');
    Wanted.File = File.str();
    if (!File.empty() && !Line.getAsInteger(10, Wanted.Line) && Wanted.Line)
      return true;
    DiagnosticsEngine &Engine = Compiler.getDiagnostics();
    Engine.Report(Engine.getCustomDiagID(DiagnosticsEngine::Error,
                                         "-fcosy-suggest=%0: FILE:LINE is "
                                         "wanted"))
        << Words.front();
    return false;
  }
  /// Runs where it is asked for, and then first, since clang generates code for
  /// each function as it reads it.
  ActionType getActionType() override { return CmdlineBeforeMainAction; }
};

} // namespace

static FrontendPluginRegistry::Add<SuggestAction>
    Registration("cosy-suggest", "mark a loop as a region");
