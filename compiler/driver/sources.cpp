// SPDX-License-Identifier: MIT
//===- sources.cpp - Whether a compilation may hold a region --------------===//
//
// cosycc requests line tables only if a region may use them, because they cost
// time and make an object larger.  Reading the text a second time costs less.
// System headers are not read, because only the program's own text marks
// regions, by a macro of <cosy/cosy.h>.
//
//===----------------------------------------------------------------------===//
#include "sources.h"
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>
#include <sys/stat.h>

using std::string;
using std::string_view;
using std::vector;

/// Number of files after which the search assumes that there is a region.
static constexpr size_t MaxFiles = 4096;

namespace {

class Search {
  const Sources &S;
  std::set<string> Seen;
  vector<string> Waiting;
  bool Unknown;

public:
  explicit Search(const Sources &Given)
      : S(Given), Waiting(Given.Files), Unknown(Given.Unreadable) {
    // By these variables clang searches further folders for headers.
    for (const char *Name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"})
      Unknown |= getenv(Name) != nullptr;
  }

  bool run() {
    while (!Unknown && !Waiting.empty()) {
      string Name = Waiting.back();
      Waiting.pop_back();
      if (Seen.insert(Name).second && searchFile(Name))
        return true;
      Unknown |= Seen.size() > MaxFiles;
    }
    return Unknown;
  }

private:
  /// True for a regular file, which can be read twice, unlike a pipe.
  static bool isRegular(const string &Name) {
    struct stat St;
    return stat(Name.c_str(), &St) == 0 && S_ISREG(St.st_mode);
  }

  /// Returns whether the file marks a region, and records its includes.
  bool searchFile(const string &Name) {
    if (!isRegular(Name)) {
      Unknown = true;
      return false;
    }
    std::ifstream File(Name, std::ios::binary);
    Unknown |= !File;
    string Text((std::istreambuf_iterator<char>(File)),
                std::istreambuf_iterator<char>());
    // A preprocessed file has the second mark.
    for (const char *Mark : {"COSY_START", "__cosy_region_start"})
      if (Text.find(Mark) != string::npos)
        return true;
    size_t Slash = Name.rfind('/');
    string Folder = Slash == string::npos ? "." : Name.substr(0, Slash);
    for (size_t At = Text.find('#'); At != string::npos;
         At = Text.find('#', At + 1))
      noteDirective(string_view(Text).substr(At + 1), Folder);
    return false;
  }

  /// Records the header that a directive includes, if it is the program's.
  void noteDirective(string_view Rest, const string &Folder) {
    static constexpr string_view Blank = " \t";
    auto Skip = [&] {
      size_t N = Rest.find_first_not_of(Blank);
      Rest.remove_prefix(N == string_view::npos ? Rest.size() : N);
    };
    Skip();
    if (Rest.substr(0, 7) == "include")
      Rest.remove_prefix(7);
    else if (Rest.substr(0, 6) == "import")
      Rest.remove_prefix(6);
    else
      return;
    if (Rest.substr(0, 5) == "_next")
      Rest.remove_prefix(5);
    Skip();
    char Open = Rest.empty() ? '\n' : Rest[0];
    size_t End = Open == '"'   ? Rest.find('"', 1)
                 : Open == '<' ? Rest.find('>', 1)
                               : string_view::npos;
    if (End == string_view::npos) {
      // A macro's name, a comment or a line that is continued.
      Unknown = true;
      return;
    }
    string Header(Rest.substr(1, End - 1));
    if (Open == '"')
      noteHeader(Folder + "/" + Header);
    for (const string &F : S.Folders)
      noteHeader(F + "/" + Header);
  }

  void noteHeader(const string &Path) {
    if (!Seen.count(Path) && isRegular(Path))
      Waiting.push_back(Path);
  }
};

} // namespace

bool mayHoldRegion(const Sources &S) { return Search(S).run(); }
