// A loop that ends at its head before a call arrives there once more than it makes calls.  So the
// head counts the iteration before, and nothing at the first arrival.
// RUN: %ir %s | FileCheck %s
#include <cosy/cosy.h>
#include <unistd.h>

// CHECK-LABEL: define {{.*}}@at_head(
// CHECK: select i1 %cosy.made{{[^,]*}}, i64 {{[0-9]+}}, i64 0
// CHECK: select i1 %cosy.made{{[^,]*}}, i64 8, i64 0
// CHECK: call i64 @read(
long at_head(int fd, char *to, long count)
{
	COSY_START;
	while (count > 0) {
		long n = read(fd, to, 100);

		to += n;
		count -= n;
	}
	COSY_END;
	return count;
}

// This one ends after its call, so it arrives there as often as it makes one.
// CHECK-LABEL: define {{.*}}@after_call(
// CHECK-NOT: %cosy.made
// CHECK: call i64 @read(
long after_call(int fd, char *to)
{
	long all = 0, n;

	COSY_START;
	while ((n = read(fd, to, 100)) > 0)
		all += n;
	COSY_END;
	return all;
}
