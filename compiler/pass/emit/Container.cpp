// SPDX-License-Identifier: MIT
//===- Container.cpp - The bytes of struct cosy_compound ------------------===//
//
// Lays out a compiled region as the host passes it to libcosy, and libcosy to
// the module (include/uapi/linux/cosy.h): a header with offsets, then the
// parts, each aligned to eight bytes.
//
//===----------------------------------------------------------------------===//
#include "emit/Container.h"
#include "base/Options.h"
#include "lower/Compound.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <linux/cosy.h>

using namespace llvm;
using namespace cosy;

namespace {
/// Bytes that grow by 8-byte aligned parts.
class Bytes {
  std::vector<uint8_t> Data;

public:
  /// Appends a copy of [Source, Source + Size) and returns its offset.
  uint32_t append(const void *Source, size_t Size) {
    Data.resize(alignTo(Data.size(), 8));
    size_t Offset = Data.size();
    const auto *First = static_cast<const uint8_t *>(Source);
    Data.insert(Data.end(), First, First + Size);
    return Offset;
  }
  std::vector<uint8_t> finish(cosy_compound &Header) {
    Data.resize(alignTo(Data.size(), 8));
    Header.size = Data.size();
    memcpy(Data.data(), &Header, sizeof(Header));
    return std::move(Data);
  }
};

/// NUL-terminated strings, each at its offset.
class Strings {
  std::string Data;

public:
  uint32_t add(const std::string &S) {
    uint32_t Offset = Data.size();
    Data.append(S.c_str(), S.size() + 1);
    return Offset;
  }
  const std::string &data() const { return Data; }
};
} // namespace

std::vector<uint8_t> cosy::buildContainer(const Compound &C) {
  cosy_compound Header = {};
  Header.magic = COSY_MAGIC;
  Header.version = COSY_ABI_VERSION;
  Header.header_size = sizeof(Header);
  Header.ctx_size = C.ContextSize;
  Header.flags = options().Fast ? 0 : COSY_ORDINARY_CALLS;

  Bytes Out;
  Strings Names;
  Out.append(&Header, sizeof(Header));
  Header.insn_off = Out.append(C.Code.data(), C.Code.size());
  Header.insn_cnt = C.Code.size() / 8;

  Header.name = Names.add(C.Name);
  std::vector<uint32_t> Files;
  for (const std::string &File : C.Files)
    Files.push_back(Names.add(File));
  std::vector<cosy_line> Lines;
  for (const LineEntry &E : C.Lines)
    Lines.push_back({E.Insn, Files[E.File], E.Line, E.Column});
  if (!Lines.empty()) {
    Header.line_off = Out.append(Lines.data(), Lines.size() * sizeof(Lines[0]));
    Header.line_cnt = Lines.size();
  }
  Header.str_off = Out.append(Names.data().data(), Names.data().size());
  Header.str_size = Names.data().size();
  return Out.finish(Header);
}
