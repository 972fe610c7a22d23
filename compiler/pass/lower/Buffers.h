// SPDX-License-Identifier: MIT
//===- Buffers.h - What a compound does with a piece of memory ------------===//
#ifndef COSY_PASS_BUFFERS_H
#define COSY_PASS_BUFFERS_H

#include "lower/BpfModule.h"
#include "region/HostBuffers.h"
#include "llvm/IR/IntrinsicInst.h"

namespace cosy {

/// An object of the compound's module: an alloca, a global, or the memory that
/// every load of one input points to.
struct Buffer : HostBuffer {
  llvm::Value *Object = nullptr;             ///< The first of Roots.
  llvm::SmallVector<llvm::Value *, 2> Roots; ///< Where its address comes from.
};

/// Finds the object that a pointer of the compound's module leads to.
Buffer bufferOf(BpfModule &B, const Extracted &R, const Compound &C,
                llvm::Value *Pointer);

/// Returns the offset of the context's field that a load reads, or nothing.
std::optional<uint64_t> fieldOf(const llvm::Value *V);

/// All uses of an object through its roots.
struct BufferUses {
  llvm::SmallVector<llvm::CallInst *, 4> Calls;       ///< It is an argument.
  llvm::SmallVector<llvm::Instruction *, 8> Accesses; ///< Loads and stores.
  llvm::SmallVector<llvm::MemIntrinsic *, 2> Copies;
  llvm::SmallVector<llvm::IntrinsicInst *, 2> Lifetimes;
  /// The first use that cannot be followed, and what it is.
  llvm::Instruction *Lost = nullptr;
  std::string WhyLost;
};
BufferUses usesOf(const Buffer &Buf);

} // namespace cosy

#endif // COSY_PASS_BUFFERS_H
