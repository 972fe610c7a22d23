// SPDX-License-Identifier: MIT
// A variable length array and alloca around the region are just memory.
// expect: compiled
#include <cosy/cosy.h>
#include <alloca.h>
#include <stdio.h>
#include <unistd.h>

static int run(int n)
{
	int a[n], sum = 0;
	char *p = alloca(n * 2);

	for (int i = 0; i < n; i++)
		a[i] = i * i;
	COSY_START;
	for (int i = 0; i < n; i++) {
		p[i] = a[i] + (getpid() > 0);
		sum += p[i] * 3 + sizeof(a);
	}
	COSY_END;
	return sum + p[n - 1];
}

int main(void)
{
	printf("%d %d\n", run(10), run(100));
	return 0;
}
