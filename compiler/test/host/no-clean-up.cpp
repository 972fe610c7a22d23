// The end of a region is no clean-up: calls in one that has no others are no invokes, and what unwinds
// through __cosy_run, a thread that is cancelled, runs the clean-ups of functions that this one is inlined into.
// RUN: %ir %s | FileCheck %s
// RUN: %cosyc++ -O2 -S -emit-llvm %s -o - | FileCheck %s --check-prefix=INLINED
#include <cosy/cosy.h>
#include <unistd.h>

void leave() noexcept;

struct guard {
	~guard() { leave(); }
};

inline int plain(int fd)
{
	int n;

	COSY_START;
	n = read(fd, nullptr, 0);
	COSY_END;
	return n;
}

int guarded(int fd)
{
	guard g;

	return plain(fd);
}
// CHECK: define {{.*}} @_Z5plaini(
// CHECK-NOT: landingpad
// CHECK: call i64 @__cosy_run({{.*}}){{( #[0-9]+)?(, !dbg ![0-9]+)?$}}
// CHECK-NOT: landingpad
// CHECK: {{^}}}
// INLINED: define {{.*}} @_Z7guardedi(
// INLINED: invoke i64 @__cosy_run(
// INLINED: landingpad
// INLINED: call void @_Z5leavev()
// INLINED: resume
