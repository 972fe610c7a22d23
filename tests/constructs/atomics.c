// SPDX-License-Identifier: MIT
// 32- and 64-bit atomics: every operation, with and without the old value.
// expect: compiled
#include <cosy/cosy.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int i32 = 1;
static atomic_ulong u64 = 2;
static _Atomic(int *) pointer;
static int plain = 9;

int main(void)
{
	long sum = 0;
	int target = 3, expected;

	COSY_START;
	for (int i = 1; i < 6; i++) {
		sum += atomic_fetch_add(&i32, i);
		sum += atomic_fetch_sub(&u64, i);
		sum ^= atomic_fetch_or(&i32, 1 << i);
		sum += atomic_fetch_and(&u64, ~(1ul << i));
		sum += atomic_fetch_xor(&i32, 0x1111);
		sum += atomic_exchange(&u64, sum & 0xffffff);
		atomic_fetch_add(&i32, 1);
		atomic_store_explicit(&i32, atomic_load(&i32) + 1, memory_order_release);
		atomic_store(&u64, atomic_load_explicit(&u64, memory_order_acquire) + 5);
		expected = i32;
		sum += atomic_compare_exchange_strong(&i32, &expected, expected + 2);
		expected = -1;
		sum += atomic_compare_exchange_weak(&i32, &expected, 0) * 1000;
		sum += expected;
		atomic_thread_fence(memory_order_seq_cst);
		atomic_signal_fence(memory_order_acq_rel);
		sum += __sync_fetch_and_nand(&plain, i);
		sum += __atomic_fetch_add(&plain, getpid() > 0, __ATOMIC_RELAXED);
	}
	atomic_store(&pointer, &target);
	*atomic_load(&pointer) += 4;
	COSY_END;
	printf("%ld %d %lu %d %d\n", sum, i32, u64, target, plain);
	return 0;
}
