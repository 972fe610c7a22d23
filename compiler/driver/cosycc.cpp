// SPDX-License-Identifier: MIT
//===- cosycc.cpp - clang with the Cosy pass ------------------------------===//
//
// cosycc takes clang's command line, adds what makes marked regions compounds,
// and becomes clang.  As cosyc++ it becomes clang++.
//
// Its own options are those that printHelp() lists.
//
// It adds these, and finds them there:
//   the plugins   $COSY_PLUGIN (CosyPass.so alone), beside cosycc, ../lib,
//                 ../lib/cosy, as built
//   headers       ../include, as built
//   libcosy       ../lib, as built
//   clang         $COSY_CLANG, as built
//
//===----------------------------------------------------------------------===//
#include "../../common/standard.h"
#include "arguments.h"
#include "plugins.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using std::string;
using std::vector;

static bool exists(const string &Path) {
  return access(Path.c_str(), R_OK) == 0;
}

/// Returns the directory of this program, without a slash at the end.
static string ownDirectory() {
  char Path[PATH_MAX];
  ssize_t Length = readlink("/proc/self/exe", Path, sizeof(Path));
  if (Length <= 0)
    return ".";
  string S(Path, Length);
  return S.substr(0, S.rfind('/'));
}

/// Finds Name in the first of the places that has it; Place/Name, or "".
static string find(const vector<string> &Places, const string &Name) {
  for (const string &Place : Places)
    if (exists(Place + "/" + Name))
      return Place;
  return "";
}

static string environment(const char *Name) {
  const char *Value = getenv(Name);
  return Value ? Value : "";
}

static string findPlugin(const string &Own, const string &Name,
                         const string &Given) {
  if (!Given.empty())
    return Given;
  string Found =
      find({Own, Own + "/../lib", Own + "/../" COSY_LIB_NAME,
            Own + "/../lib/cosy", Own + "/../" COSY_LIB_NAME "/cosy"},
           Name);
  return (Found.empty() ? COSY_PLUGIN_FALLBACK : Found) + "/" + Name;
}

static void add(vector<string> &To, std::initializer_list<string> Words) {
  To.insert(To.end(), Words);
}

/// Adds an option for the plugin: it must reach cc1 and nobody else.
static void addPluginOption(vector<string> &To, const string &Option) {
  add(To, {"-Xclang", "-mllvm", "-Xclang", Option});
}

/// Returns the directory's name without links and dots, or as it is.
static string resolve(const string &Directory) {
  char *Real = realpath(Directory.c_str(), nullptr);
  string Path = Real ? Real : Directory;
  free(Real);
  return Path;
}

/// Reports whether the directory is one of those that the tools search anyway.
/// An -isystem of one would search it before libstdc++'s headers, whose
/// #include_next then finds nothing; a RUNPATH of one is an error in packages.
static bool isSearched(const string &Directory,
                       std::initializer_list<const char *> Searched) {
  string Path = resolve(Directory);
  for (const char *S : Searched)
    if (Path == S)
      return true;
  return false;
}

static void addHeaders(vector<string> &To, const string &Own) {
  string Installed = Own + "/../include";
  if (exists(Installed + "/cosy/cosy.h")) {
    if (!isSearched(Installed, {"/usr/include", "/usr/local/include"}))
      add(To, {"-isystem", Installed});
    add(To, {"-isystem", Installed + "/cosy/uapi"});
    return;
  }
  // In the source tree the kernel's interface has a folder of its own, and
  // generated headers lie with the build.
  add(To, {"-isystem", COSY_INCLUDE_FALLBACK, "-isystem",
           COSY_INCLUDE_FALLBACK "/uapi", "-isystem", COSY_GENERATED_FALLBACK});
}

static void addPlugin(vector<string> &To, const Arguments &A,
                      const string &Own) {
  string Pass = findPlugin(Own, "CosyPass.so", environment("COSY_PLUGIN"));
  string Frontend = findPlugin(Own, "CosyFrontend.so", "");
  for (const string &Plugin : {Pass, Frontend})
    if (!exists(Plugin)) {
      fprintf(stderr, "cosycc: error: no plugin at %s%s\n", Plugin.c_str(),
              Plugin == Pass ? " (set COSY_PLUGIN)" : "");
      exit(1);
    }
  // Name the pass twice: -fplugin makes its options known, -fpass-plugin runs
  // it.
  add(To, {"-fplugin=" + Frontend, "-fplugin=" + Pass, "-fpass-plugin=" + Pass,
           "-D__COSYCC__=1"});
  if (!A.HasDebugInfo && (!A.Suggested.empty() || mayHoldRegion(A.Text))) {
    // Compounds and remarks have lines; a file without a region keeps none.
    add(To, {"-gline-tables-only"});
    if (!A.NeedsLines)
      addPluginOption(To, "-cosy-drop-lines");
  }
  // clang drops warnings under -w; -Rcosy then makes remarks of them.
  if (!A.Warnings || (A.Silent && !A.Errors))
    addPluginOption(To, "-cosy-no-warn");
  if (A.Errors)
    addPluginOption(To, "-cosy-error");
  if (!A.Fast)
    addPluginOption(To, "-cosy-no-fast");
  if (A.Force)
    addPluginOption(To, "-cosy-force");
  if (A.Summary)
    addPluginOption(To, "-cosy-summary");
  if (A.GnuAs)
    addPluginOption(To, "-cosy-gnu-as");
  if (A.DataFlow)
    addPluginOption(To, "-cosy-data-flow");
  if (!A.Suggested.empty())
    add(To, {"-Xclang", "-add-plugin", "-Xclang", "cosy-suggest", "-Xclang",
             "-plugin-arg-cosy-suggest", "-Xclang", A.Suggested});
  if (A.Remarks)
    add(To, {"-Rpass-missed=^cosy$"});
  if (A.Remarks && A.RemarkPattern.empty())
    add(To, {"-Rpass=^cosy$"});
  else if (A.Remarks)
    add(To, {"-Rpass=(" + A.RemarkPattern + ")|^cosy$"});
}

/// True if clang itself would choose GNU ld, whose scripts can add to its
/// default script.
static bool isGnuLd() {
  char *Real = realpath("/usr/bin/ld", nullptr);
  if (!Real)
    return false;
  string Path = Real;
  free(Real);
  return Path.size() > 4 && Path.compare(Path.size() - 4, 4, ".bfd") == 0;
}

/// Adds libcosy.  A program gets libcosy.a, since the dynamic linker takes
/// longer for one more library than short runs can earn.  What most of them
/// never run of it is mapped apart, if the linker can.  Shared libraries get
/// libcosy.so, so that those of one process share it.
static void addLibrary(vector<string> &To, const Arguments &A,
                       const string &Own) {
  bool Shared = A.SharesLibrary && !A.LinksStatically;
  string Dir = find({Own + "/../lib", Own + "/../" COSY_LIB_NAME},
                    Shared ? "libcosy.so" : "libcosy.a");
  if (Dir.empty())
    Dir = COSY_LIB_FALLBACK;
  Dir = resolve(Dir);
  add(To, {"-L" + Dir});
  if (!Shared) {
    if (A.LinksStatically)
      add(To, {"-Wl,-u,libcosy_static_arms"});
    add(To, {"-l:libcosy.a"});
    if (A.PlainLink && !A.Off && isGnuLd() && exists(Dir + "/cosy_cold.ld"))
      add(To, {"-Wl,-z,noseparate-code", "-T", Dir + "/cosy_cold.ld"});
    return;
  }
  if (!isSearched(Dir, {"/lib", "/usr/lib", "/lib/" COSY_MULTIARCH,
                        "/usr/lib/" COSY_MULTIARCH}))
    add(To, {"-Wl,-rpath," + Dir});
  // A library without regions does not need it at run time.
  add(To, {"-Wl,--push-state,--as-needed", "-lcosy", "-Wl,--pop-state"});
}

/// Prints Cosy's own options, before clang prints its own.
static void printHelp() {
  fputs(
      "USAGE: cosycc [clang's options] [options below] file...\n"
      "\n"
      "clang that also compiles the C between COSY_START; and COSY_END; "
      "(#include\n"
      "<cosy/cosy.h>) into a compound, which runs in the kernel.  First: "
      "cosycc "
      "-O2 -Rcosy file.c\n"
      "\n"
      "COSY'S OPTIONS:\n"
      "  -Rcosy                  Report each region: compiled, with its "
      "estimated gain, or\n"
      "                          the reason that keeps it native\n"
      "  -Rcosy=summary          Print each region in one line: in the kernel, "
      "or native and\n"
      "                          the reason\n"
      "  -Wno-cosy               Do not warn when a region stays native\n"
      "  -Werror=cosy            Fail when a region stays native\n"
      "  -fcosy-suggest=<file>:<line>\n"
      "                          Mark the loop at that line, without a change "
      "to the source\n"
      "  -fcosy-force            Run regions in the kernel from the start, "
      "even those that\n"
      "                          are expected to lose\n"
      "  -fno-cosy-fast          Make each call the ordinary way, none "
      "specialised\n"
      "  -fno-cosy               Treat the marks as plain blocks\n"
      "  -shared-libcosy         Link libcosy.so instead of libcosy.a\n"
      "\n"
      "See cosycc(1).  clang's options follow.\n"
      "\n",
      stdout);
  standard_check();
}

static int reportMissing(const string &Clang, int Error) {
  fprintf(stderr, "cosycc: error: cannot run %s: %s\n", Clang.c_str(),
          strerror(Error));
  return 1;
}

/// Prints clang's version, by which build systems recognise a compiler, and
/// after it Cosy's with a digest of the plugins.  Returns the exit status.
static int printVersion(const string &Clang) {
  char *Words[] = {const_cast<char *>(Clang.c_str()),
                   const_cast<char *>("--version"), nullptr};
  pid_t Child;
  int Status;
  int Error =
      posix_spawnp(&Child, Clang.c_str(), nullptr, nullptr, Words, environ);
  if (Error)
    return reportMissing(Clang, Error);
  if (waitpid(Child, &Status, 0) < 0 || !WIFEXITED(Status))
    return 1;
  printf("cosycc version %s (plugins %s)\n", COSY_VERSION, COSY_PLUGINS);
  standard_check();
  return WEXITSTATUS(Status);
}

int main(int Count, char **Values) {
  Arguments A = parseArguments(Count, Values);
  string Own = ownDirectory();
  string Clang = environment("COSY_CLANG");
  if (Clang.empty())
    Clang = COSY_CLANG;

  vector<string> Command{Clang};
  const char *Slash = strrchr(Values[0], '/');
  string Name = Slash ? Slash + 1 : Values[0];
  if (Name.find("++") != string::npos)
    add(Command, {"--driver-mode=g++"});
  if (!A.RemarkPattern.empty() && (A.Off || !A.Remarks))
    add(Command, {"-Rpass=" + A.RemarkPattern});
  // Do not warn the user of options that cosycc added and clang does not use.
  add(Command, {"--start-no-unused-arguments"});
  if (!A.Off)
    addPlugin(Command, A, Own);
  addHeaders(Command, Own);
  add(Command, {"--end-no-unused-arguments"});

  bool Files = false;
  vector<string> Libraries;
  if (A.HasInput && A.Links && A.LinksLibraries && !A.Foreign) {
    add(Libraries, {"--start-no-unused-arguments"});
    addLibrary(Libraries, A, Own);
    add(Libraries, {"--end-no-unused-arguments"});
  }
  for (const string &Arg : A.Rest) {
    // No option may follow the files after "--".
    if (Arg == "--" && !Files) {
      Files = true;
      Command.insert(Command.end(), Libraries.begin(), Libraries.end());
      Libraries.clear();
    }
    Command.push_back(Arg);
  }
  Command.insert(Command.end(), Libraries.begin(), Libraries.end());

  if (A.Rest.size() == 1 && A.Rest[0] == "--version")
    return printVersion(Clang);
  if (A.Rest.size() == 1 && (A.Rest[0] == "--help" || A.Rest[0] == "-help"))
    printHelp();
  vector<char *> Arguments;
  for (string &S : Command)
    Arguments.push_back(S.data());
  Arguments.push_back(nullptr);
  execvp(Clang.c_str(), Arguments.data());
  return reportMissing(Clang, errno);
}
