// SPDX-License-Identifier: MIT
// goto to several labels after and before the region.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static int run(int n)
{
	int tries = 0, out = 0;

again:
	tries++;
	COSY_START;
	if (getpid() <= 0)
		goto fail;
	if (n == 3 && tries < 5)
		goto again;
	if (n == 1)
		goto one;
	if (n == 2)
		goto two;
	out = 1000;
	COSY_END;
	out += 1;
	return out + tries;
one:
	out += 10;
two:
	out += 20;
	return out;
fail:
	return -1;
}

int main(void)
{
	for (int i = 0; i < 5; i++)
		printf("%d ", run(i));
	printf("\n");
	return 0;
}
