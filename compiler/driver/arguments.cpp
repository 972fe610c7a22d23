// SPDX-License-Identifier: MIT
//===- arguments.cpp - clang's command line as cosycc understands it ------===//
#include "arguments.h"
#include <cctype>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

using std::string;
using std::vector;

/// Options whose value is the next argument.
static const std::set<string> TakesValue = {
    "-o",
    "-x",
    "-I",
    "-L",
    "-l",
    "-D",
    "-U",
    "-T",
    "-u",
    "-z",
    "-e",
    "-F",
    "-A",
    "-B",
    "-G",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-isysroot",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-include-pch",
    "-Xclang",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-mllvm",
    "-target",
    "-arch",
    "-framework",
    "-resource-dir",
    "-working-directory",
    "-dumpdir",
    "--param",
    "--sysroot",
    "--config",
    "-rpath",
    "-iframework",
    "-ivfsoverlay",
    "-cxx-isystem",
    "-c-isystem",
    "-fmodule-name",
    "-serialize-diagnostics",
    "--serialize-diagnostics",
    "-dependency-file",
    "-gcc-toolchain",
    "-Xarch_host",
    "-Xarch_device",
};

/// Options that end before the linker.
static const std::set<string> StopsEarly = {
    "-c",           "-S",        "-E",        "-M", "-MM", "-fsyntax-only",
    "--precompile", "-emit-ast", "--analyze",
};

static bool startsWith(const string &S, const char *Prefix) {
  return S.rfind(Prefix, 0) == 0;
}

static bool endsWith(const string &S, const string &Suffix) {
  return S.size() >= Suffix.size() &&
         S.compare(S.size() - Suffix.size(), Suffix.size(), Suffix) == 0;
}

static bool isHeader(const string &File) {
  for (const char *Suffix : {".h", ".hh", ".hpp", ".hxx", ".H"})
    if (endsWith(File, Suffix))
      return true;
  return false;
}

static bool isForeignTarget(const string &Arg, const string &Next) {
  if (Arg == "-m32" || Arg == "-mx32" || Arg == "-m16")
    return true;
  string Target;
  if (startsWith(Arg, "--target="))
    Target = Arg.substr(9);
  else if (Arg == "-target")
    Target = Next;
  return !Target.empty() && !startsWith(Target, "x86_64");
}

/// Splits a response file into words, quoted as GNU tools do.
static vector<string> splitResponse(const string &Text) {
  vector<string> Words;
  string Word;
  bool InWord = false;
  char Quote = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (C == '\\' && I + 1 < Text.size()) {
      Word += Text[++I];
      InWord = true;
    } else if (Quote) {
      if (C == Quote)
        Quote = 0;
      else
        Word += C;
    } else if (C == '"' || C == '\'') {
      Quote = C;
      InWord = true;
    } else if (isspace(static_cast<unsigned char>(C))) {
      if (InWord)
        Words.push_back(Word);
      Word.clear();
      InWord = false;
    } else {
      Word += C;
      InWord = true;
    }
  }
  if (InWord)
    Words.push_back(Word);
  return Words;
}

/// Depth of response files in response files: one may name itself.
static constexpr int MaxNesting = 16;

static void expand(const string &Arg, vector<string> &Out, int Nesting) {
  if (Arg.size() < 2 || Arg[0] != '@' || Nesting == MaxNesting) {
    Out.push_back(Arg);
    return;
  }
  std::ifstream File(Arg.substr(1));
  if (!File) {
    Out.push_back(Arg); // clang says what is wrong with it
    return;
  }
  string Text((std::istreambuf_iterator<char>(File)),
              std::istreambuf_iterator<char>());
  for (const string &Word : splitResponse(Text))
    expand(Word, Out, Nesting + 1);
}

/// True if the option is cosycc's own and has been dealt with.
static bool parseOwn(const string &Arg, Arguments &A) {
  if (Arg == "-fno-cosy")
    A.Off = true;
  else if (Arg == "-fcosy")
    A.Off = false;
  else if (Arg == "-fno-cosy-fast")
    A.Fast = false;
  else if (Arg == "-fcosy-fast")
    A.Fast = true;
  else if (Arg == "-fno-cosy-force")
    A.Force = false;
  else if (Arg == "-fcosy-force")
    A.Force = true;
  else if (startsWith(Arg, "-fcosy-suggest="))
    A.Suggested = Arg.substr(sizeof("-fcosy-suggest=") - 1);
  else if (Arg == "-shared-libcosy")
    A.SharesLibrary = true;
  else if (Arg == "-Rcosy")
    A.Remarks = true;
  else if (Arg == "-Rcosy=summary")
    A.Summary = true;
  else if (Arg == "-Rno-cosy")
    A.Remarks = A.Summary = false;
  else if (Arg == "-Wcosy")
    A.Warnings = true;
  else if (Arg == "-Wno-cosy")
    A.Warnings = false;
  else if (Arg == "-Werror=cosy")
    A.Errors = true;
  else if (Arg == "-Wno-error=cosy")
    A.Errors = false;
  else
    return false;
  return true;
}

/// True if one of Names is in the list that follows Option.
static bool listsSanitizer(const string &Arg, const char *Option,
                           const std::set<string> &Names) {
  if (!startsWith(Arg, Option))
    return false;
  std::istringstream List(Arg.substr(strlen(Option)));
  for (string Name; std::getline(List, Name, ',');)
    if (Names.count(Name))
      return true;
  return false;
}

/// True if the option chooses another linker than clang would, or a script of
/// the program's own.
static bool choosesLinker(const string &Arg) {
  if (startsWith(Arg, "-fuse-ld="))
    return Arg != "-fuse-ld=bfd";
  if (startsWith(Arg, "-Wl,"))
    return Arg.find(",-T") != string::npos ||
           Arg.find("script") != string::npos;
  for (const char *Prefix :
       {"-B", "-T", "--ld-path", "--sysroot", "--config", "-Xlinker"})
    if (startsWith(Arg, Prefix))
      return true;
  return false;
}

/// Notes where the program's text is: files, folders of headers.
static void noteSources(const string &Arg, const string &Next, Sources &S) {
  for (const char *Option : {"-I", "-iquote", "-isystem", "-idirafter"})
    if (startsWith(Arg, Option)) {
      string Value = Arg.substr(strlen(Option));
      S.Folders.push_back(Value.empty() ? Next : Value);
      return;
    }
  if (Arg == "-include" || Arg == "-imacros") {
    S.Files.push_back(Next);
    return;
  }
  // Other ways to text, and to folders of it.
  for (const char *Option :
       {"-include", "--include", "-imacros", "--imacros", "-iwithprefix",
        "-isystem-after", "-fmodule", "-fprebuilt-module", "-Wp,", "-Xclang",
        "-Xpreprocessor"})
    S.Unreadable |= startsWith(Arg, Option);
  S.Unreadable |= Arg.find("COSY_START") != string::npos;
}

/// True for files that can hold no region: they are assembled, or linked.
static bool holdsNoRegion(const string &File) {
  for (const char *Suffix : {".s", ".S", ".o", ".a", ".so", ".lo", ".obj"})
    if (endsWith(File, Suffix))
      return true;
  size_t At = File.rfind(".so.");
  return At != string::npos &&
         File.find_first_not_of("0123456789.", At + 4) == string::npos;
}

/// True for an option that says how much debug information there is.  Others
/// begin with -g too (-gz, -gsplit-dwarf, -gcolumn-info), but only say how it
/// is written, if there is any.
static bool choosesDebugInfo(const string &Arg) {
  // clang's g_Group, for ELF.
  static const std::set<string> Whole = {"-g",
                                         "-gdwarf",
                                         "-gdwarf32",
                                         "-gdwarf64",
                                         "-gline-tables-only",
                                         "-gsce",
                                         "-gdbx",
                                         "-gmodules",
                                         "-ginline-line-tables",
                                         "-gline-directives-only",
                                         "-gmlt",
                                         "-gfull",
                                         "-gused",
                                         "-gno-inline-line-tables"};
  return Whole.count(Arg) || startsWith(Arg, "-ggdb") ||
         startsWith(Arg, "-glldb") ||
         (startsWith(Arg, "-gdwarf-") && isdigit(Arg.back())) ||
         startsWith(Arg, "-gcodeview") ||
         (startsWith(Arg, "-g") && Arg.size() == 3 && isdigit(Arg[2]));
}

Arguments parseArguments(int Count, char **Values) {
  vector<string> All;
  for (int I = 1; I < Count; ++I)
    expand(Values[I], All, 0);

  Arguments A;
  for (size_t I = 0; I < All.size(); ++I) {
    const string &Arg = All[I];
    if (parseOwn(Arg, A))
      continue;
    if (startsWith(Arg, "-Rpass=")) {
      A.RemarkPattern = Arg.substr(7); // the last of several holds
      continue;
    }
    A.Rest.push_back(Arg);
    noteSources(Arg, I + 1 < All.size() ? All[I + 1] : "", A.Text);
    // Perhaps: the options in the file are clang's to read.
    A.HasDebugInfo |= startsWith(Arg, "--config");
    if (Arg == "--") { // files only
      A.HasInput |= I + 1 < All.size();
      A.Text.Unreadable = true;
      A.Rest.insert(A.Rest.end(), All.begin() + I + 1, All.end());
      break;
    }
    if (Arg.empty() || Arg[0] != '-' || Arg == "-") {
      A.HasInput = true;
      if (!holdsNoRegion(Arg))
        A.Text.Files.push_back(Arg);
      if (isHeader(Arg)) // to be precompiled
        A.Links = false;
    } else if (Arg == "-x" && I + 1 < All.size() &&
               endsWith(All[I + 1], "-header")) {
      A.Links = false;
    } else if (Arg == "-w" || Arg == "--no-warnings") {
      A.Silent = true;
    } else if (StopsEarly.count(Arg)) {
      A.Links = false;
    } else if (Arg == "-fno-integrated-as" || Arg == "-no-integrated-as") {
      A.GnuAs = true;
    } else if (Arg == "-fintegrated-as" || Arg == "-integrated-as") {
      A.GnuAs = false;
    } else if (listsSanitizer(Arg, "-fsanitize=", {"dataflow"})) {
      A.DataFlow = true;
    } else if (listsSanitizer(Arg, "-fno-sanitize=", {"dataflow", "all"})) {
      A.DataFlow = false;
    } else if (isForeignTarget(Arg, I + 1 < All.size() ? All[I + 1] : "")) {
      A.Foreign = true;
    } else if (choosesLinker(Arg)) {
      A.PlainLink = false;
    } else if (Arg == "-static" || Arg == "--static" || Arg == "-static-pie") {
      A.LinksStatically = true;
      A.PlainLink = false;
    } else if (Arg == "-shared" || Arg == "--shared") {
      A.SharesLibrary = true;
    } else if (Arg == "-nostdlib" || Arg == "-nodefaultlibs" || Arg == "-r") {
      A.LinksLibraries = false;
    } else if (Arg == "--coverage" || startsWith(Arg, "-fprofile-arcs") ||
               startsWith(Arg, "-ftest-coverage") ||
               startsWith(Arg, "-fprofile-sample-use") ||
               startsWith(Arg, "-fauto-profile")) {
      A.NeedsLines = true;
    } else if (choosesDebugInfo(Arg)) {
      A.HasDebugInfo = true;
    }
    if (TakesValue.count(Arg) && I + 1 < All.size()) {
      if (Arg == "-l")
        A.HasInput = true;
      A.Rest.push_back(All[++I]);
    }
  }
  return A;
}
