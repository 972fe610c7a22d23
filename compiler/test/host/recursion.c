// A region whose work is in a recursive function enters the kernel at an entry of that function's
// copy, at whatever depth it has earned it.  So do two functions that call each other.
// Calls from outside of the region go to the function itself.
// RUN: %ir %s | FileCheck %s
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=SAYS
// RUN: %if links %{ %cosycc -O2 %s -o %t %}
// RUN: %if links %{ env COSY_MODE=native %t > %t.native %}
// RUN: %if links %{ env COSY_MODE=interp %t > %t.0 && cmp %t.native %t.0 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=1 %t > %t.1 && cmp %t.native %t.1 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=2 %t > %t.2 && cmp %t.native %t.2 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=9 %t > %t.9 && cmp %t.native %t.9 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=9 COSY_STATS=1 %t 2>&1 | FileCheck %s --check-prefix=MIDDLE %}
// A position in the source is of the function that it is in, also where a copy counts for another:
// RUN: %cosycc -O0 -g -fverify-intermediate-code -c %s -o %t.o
// RUN: %cosycc -O2 -g -fverify-intermediate-code -c %s -o %t.o
// RUN: %cosycc -O0 -g %s -o %t.plain && env COSY_MODE=interp COSY_TIER=5 %t.plain > %t.5 && cmp %t.native %t.5
#include <cosy/cosy.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct folder {
	int width;
	char path[24];
};

static long calls;

static int odd(struct folder *above, int depth);

// CHECK: define internal {{.*}}@below.twin(
// CHECK: call ptr @__cosy_enter(
static long below(struct folder *above, int depth, long weight)
{
	struct folder here = *above;
	long sum = 0;

	here.width--;
	for (int i = 0; i < here.width; i++) {
		calls += getppid() > 0;
		here.path[depth] = 'a' + i;
		if (depth)
			sum += below(&here, depth - 1, weight + i);
		sum += weight * (unsigned char)here.path[depth];
	}
	above->path[depth] = '/';
	return sum + strlen(here.path) + odd(&here, depth);
}

static __attribute__((noinline)) int asked(int times)
{
	int sum = 0;

	for (int i = 0; i < times; i++)
		sum += getppid() > 0;
	for (int i = 0; i < times; i++)
		sum ^= times & i;
	return sum;
}

static int even(struct folder *above, int depth)
{
	for (int i = 0; i < depth; i++)
		above->path[20] += asked(i & 3);
	return depth ? odd(above, depth - 1) : 1;
}

static __attribute__((noinline)) int odd(struct folder *above, int depth)
{
	return depth ? even(above, depth - 1) : 0;
}

// SAYS: remark: gain: entering the kernel {{saves|costs}} {{[0-9]+}}, an iteration of its loop {{.*}}, a call of its recursive function {{(saves|costs) [0-9]+}}{{.*}} instructions; loading it costs {{[0-9]+}}; it
int main(void)
{
	struct folder root = {6, "...................."};
	long sum = below(&root, 1, 3);

	root.width = 5;
	COSY_START;
	sum += below(&root, 3, 1);
	sum += even(&root, 9);
	COSY_END;
	printf("%ld %ld %s\n", sum, calls, root.path);
	return 0;
}
// MIDDLE: regions={{([2-9]|[1-9][0-9])}} {{.*}}interp_calls={{[1-9]}}
