// SPDX-License-Identifier: MIT
// break and continue of loops and switches around the region.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 20; i++) {
		COSY_START;
		sum += getpid() > 0;
		if (i % 3 == 0)
			continue;
		if (i == 17)
			break;
		sum += 100;
		COSY_END;
		sum += 10000;
	}
	for (int i = 0; i < 6; i++) {
		switch (i) {
		case 1:
		case 4: {
			COSY_START;
			if (getppid() && i == 4)
				break;
			sum += 3;
			COSY_END;
			sum += 7;
			break;
		}
		default:
			sum += 11;
		}
	}
	printf("%d\n", sum);
	return 0;
}
