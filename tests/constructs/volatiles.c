// SPDX-License-Identifier: MIT
// Volatile locals and globals: every access is made, in order.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static volatile int flag;
volatile unsigned char reg[4];

int main(void)
{
	volatile int local = 0;
	int sum = 0;

	COSY_START;
	for (int i = 0; i < 10; i++) {
		flag = i;
		flag++;
		local += flag;
		reg[i & 3] = local;
		reg[i & 3] ^= 0x5a;
		sum += reg[0] + local + (getpid() > 0);
	}
	COSY_END;
	printf("%d %d %d %d\n", flag, local, sum, reg[2]);
	return 0;
}
