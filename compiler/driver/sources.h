// SPDX-License-Identifier: MIT
//===- sources.h - Whether a compilation may hold a region ----------------===//
#ifndef COSY_DRIVER_SOURCES_H
#define COSY_DRIVER_SOURCES_H

#include <string>
#include <vector>

/// The files of a command line, and the folders that their includes are in.
struct Sources {
  std::vector<std::string> Files;   ///< Inputs, and those of -include.
  std::vector<std::string> Folders; ///< -I and its kin, without the system's.
  bool Unreadable = false; ///< Something is in no text: a precompiled header.
};

/// Reports whether some file, or a header of the program's that it includes,
/// spells COSY_START.  True when that is not known: a file cannot be read, or
/// an include's name is a macro.  Comments and branches of #if count.
bool mayHoldRegion(const Sources &S);

#endif
