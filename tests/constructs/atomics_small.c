// SPDX-License-Identifier: MIT
// 8- and 16-bit atomics leave their neighbours alone.
// expect: compiled
#include <cosy/cosy.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static struct {
	uint8_t b[4];
	uint16_t h[2];
	_Bool flag;
} s = {{250, 1, 2, 3}, {65530, 9}, 0};

int main(void)
{
	long sum = 0;

	COSY_START;
	for (int i = 0; i < 8; i++) {
		uint8_t e = s.b[1];
		uint16_t w = 12;

		sum += __atomic_fetch_add(&s.b[0], 3, __ATOMIC_SEQ_CST);
		sum += __atomic_fetch_sub(&s.h[0], 7, __ATOMIC_ACQ_REL);
		sum += __atomic_fetch_xor(&s.b[2], 0x81, __ATOMIC_RELAXED);
		sum += __atomic_exchange_n(&s.h[1], i, __ATOMIC_SEQ_CST);
		sum += __atomic_compare_exchange_n(&s.b[1], &e, e + 100, 0, __ATOMIC_SEQ_CST,
						   __ATOMIC_RELAXED);
		sum += __atomic_compare_exchange_n(&s.h[1], &w, 1, 0, __ATOMIC_SEQ_CST,
						   __ATOMIC_RELAXED) +
		       w;
		sum += __atomic_test_and_set(&s.flag, __ATOMIC_ACQUIRE);
		if (i & 1)
			__atomic_clear(&s.flag, __ATOMIC_RELEASE);
		sum += __atomic_load_n(&s.b[3], __ATOMIC_ACQUIRE) + (getpid() > 0);
	}
	COSY_END;
	printf("%ld %d %d %d %d %d %d %d\n", sum, s.b[0], s.b[1], s.b[2], s.b[3], s.h[0], s.h[1],
	       s.flag);
	return 0;
}
