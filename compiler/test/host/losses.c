// A copy of a loop without calls, in the native twin, adds up what its iterations and those of inner
// loops would have lost.  At its end, it adds the sum to the region's `left`.
// RUN: %ir %s | FileCheck %s
// RUN: %cosycc -O2 -g0 -S %s -o - | FileCheck %s --check-prefix=ASM
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=SAYS
// RUN: %if links %{ %cosycc -O2 %s -o %t %}
// RUN: %if links %{ env COSY_MODE=native %t > %t.native %}
// RUN: %if links %{ env COSY_MODE=interp %t > %t.0 && cmp %t.native %t.0 %}
// RUN: %if links %{ env COSY_MODE=interp COSY_TIER=7 %t > %t.7 && cmp %t.native %t.7 %}
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static int first_of(const unsigned char *bytes, int value)
{
	for (int i = 0; i < 64; i++)
		if (bytes[i] == value)
			return i;
	return -1;
}

// If the loop does not iterate, the sum is 0.
// CHECK-LABEL: define {{.*}}@none(
// CHECK: %[[LOST:cosy.lost[0-9a-z.]*]] = phi i64 [ 0, %cosy.sample{{.*}} ]
// CHECK: %[[ALL:.*]] = mul i64 %[[LOST]], 31
// CHECK: add i64 %cosy.left{{[^,]*}}, %[[ALL]]
int none(const char *bytes, long n)
{
	int sum = 0;

	COSY_START;
	for (long i = 0; i < n; i++)
		sum += bytes[i] * bytes[i];
	sum += getppid() + getppid() + getppid() + getppid() > 0;
	sum += getppid() + getppid() + getppid() + getppid() > 0;
	COSY_END;
	return sum;
}

// The inner loop's number of iterations is unknown.  The loop is as it would be without a region, and
// so is a walk along a list: nothing is added up, no register is kept for a sum.
// ASM-LABEL: {{^}}last_line:
// ASM: callq pread
// ASM: addq $-1, %[[AT:[a-z0-9]+]]
// ASM-NEXT: jae
// ASM: cmpb $10, {{.*}},%[[AT]])
// ASM-NEXT: jne
long last_line(int fd, long at, int lines)
{
	char block[512];

	COSY_START;
	while (at > 0) {
		long size = at < 512 ? at : 512;

		at -= size;
		if (pread(fd, block, size, at) != size)
			return -1;
		for (size_t i = size; i-- > 0;)
			if (block[i] == '\n' && lines-- == 0)
				return at + i + 1;
	}
	COSY_END;
	return 0;
}

// ASM-LABEL: {{^}}longest:
// ASM: incq
// ASM-NEXT: movq (%[[NODE:[a-z0-9]+]]), %[[NODE]]
// ASM-NEXT: testq %[[NODE]], %[[NODE]]
// ASM-NEXT: jne
struct node {
	struct node *next;
};

long longest(struct node *const *lists, int count)
{
	long longest = 0;

	COSY_START;
	for (int i = 0; i < count; i++) {
		long length = 0;

		if (getppid() < 0)
			break;
		for (const struct node *node = lists[i]; node; node = node->next)
			length++;
		if (length > longest)
			longest = length;
	}
	COSY_END;
	return longest;
}

// A loop that takes eight bytes at once in the kernel loses a constant, whatever their number.
// CHECK-LABEL: define {{.*}}@lines(
// CHECK: add i64 %cosy.left{{.*}}, 1550
// CHECK-LABEL: define {{.*}}@hash(
// CHECK: %cosy.lost{{[^ ]*}} = add i64 %
#define OVER_BLOCKS(name, expression)                                                              \
	long name(int fd)                                                                          \
	{                                                                                          \
		char block[4096];                                                                  \
		long n = 0, got;                                                                   \
                                                                                                   \
		COSY_START;                                                                        \
		while ((got = read(fd, block, sizeof(block))) > 0)                                 \
			for (long i = 0; i < got; i++)                                             \
				n = expression;                                                    \
		COSY_END;                                                                          \
		return n;                                                                          \
	}
OVER_BLOCKS(lines, n + (block[i] == '\n'))
OVER_BLOCKS(hash, n * 31 + block[i])

// CHECK-LABEL: define {{.*}}@main(
// CHECK: %cosy.lost{{.*}} = {{phi i64|mul|add}}
// CHECK: call i64 @llvm.smin.i64(i64 %{{.*}}, i64 2147483647)
// SAYS: remark: gain: entering the kernel {{saves|costs}} {{[0-9]+}}, an iteration of its loop saves {{[1-9][0-9]*}} instructions; loading it costs {{[0-9]+}}; it
int main(void)
{
	unsigned char bytes[64] = {0};
	long sum = 0;

	COSY_START;
	for (int round = 0; round < 12; round++) {
		bytes[(round * 7) & 63] = getppid() > 0 ? round + 1 : 0;
		for (int i = 0; i < round; i++)
			for (int k = 0; k < 64; k++)
				sum += bytes[k] * i + (k & round);
		sum += first_of(bytes, round + 1);
	}
	COSY_END;
	printf("%ld\n", sum);
	return 0;
}
