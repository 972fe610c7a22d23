// SPDX-License-Identifier: MIT
// Dense and sparse switches with fall-through: no jump table is possible.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static int dense(int n)
{
	switch (n) {
	case 0:
		return 11;
	case 1:
		return 7;
	case 2:
		return 5;
	case 3:
		return 3;
	case 4:
		return 2;
	case 5:
		return 99;
	case 6:
		return 1;
	case 7:
		return 42;
	case 8:
		return -8;
	default:
		return n;
	}
}

int main(int argc, char **argv)
{
	long sum = argc;

	(void)argv;
	COSY_START;
	for (int i = -2; i < 15; i++) {
		sum = sum * 3 + dense(i);
		switch (i * 1000) {
		case -1000:
			sum += 1;
			/* fall through */
		case 3000:
			sum += getpid() > 0;
			break;
		case 5000 ... 7000:
			sum -= 5;
			break;
		case 14000:
			sum ^= 0x55;
		}
	}
	COSY_END;
	printf("%ld\n", sum);
	return 0;
}
