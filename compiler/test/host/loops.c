// A loop that makes a call in every iteration can enter the kernel at its head, by a compound of its
// own.  Others cannot, and stay as they were.
// RUN: %ir %s | FileCheck %s
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=SAYS
// RUN: %if links %{ %cosycc -O2 %s -o %t %}
// RUN: %if links %{ env COSY_MODE=native %t > %t.native %}
// RUN: %if links %{ env COSY_MODE=interp %t > %t.0 && cmp %t.native %t.0 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=1 %t > %t.1 && cmp %t.native %t.1 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=2 %t > %t.2 && cmp %t.native %t.2 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=3 %t > %t.3 && cmp %t.native %t.3 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=8 %t > %t.8 && cmp %t.native %t.8 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=29 %t > %t.29 && cmp %t.native %t.29 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=29 COSY_STATS=1 %t 2>&1 | FileCheck %s --check-prefix=MIDDLE %}
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	long sum = 0, pids = 0, table[8] = {0}, rounds;

	COSY_START;
	long own[4] = {1, 2, 3, 4};
	long *last = &own[3];

	for (rounds = 0; rounds < 5; rounds++) {
		long before = pids;

		for (int i = 0; i < 8; i++)
			table[i] += i;
		for (int i = 0; i < 10; i++) {
			pids += getppid() > 0;
			own[i & 3] += pids - before;
			if (rounds == 4 && i == 7)
				goto out;
		}
		sum += *last + before;
	}
out:
	sum += own[0] + 10 * own[1] + 100 * own[2];
	COSY_END;
	printf("%ld %ld %ld %ld\n", sum, pids, rounds, table[7]);
	return 0;
}
// CHECK-COUNT-2: call ptr @__cosy_enter(ptr @cosy.region
// CHECK-NOT: call ptr @__cosy_enter(
// CHECK-NOT: define {{.*}}main.cosy
// SAYS: remark: gain: entering the kernel {{saves|costs}} {{[0-9]+}}, an iteration of its loop saves {{[0-9]+}} instructions; loading it costs {{[0-9]+}}; it
// MIDDLE: interp_calls=22
