// SPDX-License-Identifier: MIT
//===- RuntimeBodies.h - The bodies of libc functions that are no call ----===//
#ifndef COSY_PASS_RUNTIMEBODIES_H
#define COSY_PASS_RUNTIMEBODIES_H

#include "llvm/IR/Module.h"
#include <memory>
#include <optional>

namespace cosy {

/// Prefix of the functions in runtime/runtime.c and directories.c; libc's name
/// follows.
constexpr char RuntimePrefix[] = "__cosy_rt_";

/// True if there is a body for calls of this function.
bool isInRuntime(llvm::StringRef LibcName);
/// True if there is one, and it makes system calls.
bool runtimeMakesCalls(llvm::StringRef LibcName);
/// Returns the number of the system call that the body makes, if it is the only
/// one.
std::optional<uint64_t> runtimeCall(llvm::StringRef LibcName);
/// True for one of these bodies, by its name.
bool isOfRuntime(const llvm::Function &F);

/// Returns the bodies as a module.
std::unique_ptr<llvm::Module> runtimeBodies(llvm::LLVMContext &Ctx);
/// Returns runtime/strings.c as a module.
std::unique_ptr<llvm::Module> stringBodies(llvm::LLVMContext &Ctx);

} // namespace cosy

#endif // COSY_PASS_RUNTIMEBODIES_H
