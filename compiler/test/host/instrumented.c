// Functions that a tool observes, or that the source keeps apart, are called natively as often as
// without Cosy, because the twin does not inline them for their loops.
// REQUIRES: links
// RUN: %clang -O2 -D_GNU_SOURCE -I%S/../../../include -DCOSY_PLAIN -finstrument-functions %s -o %t.plain && %t.plain | FileCheck %s
// RUN: %cosycc -O2 -D_GNU_SOURCE -finstrument-functions %s -o %t && env COSY_MODE=native %t | FileCheck %s
// RUN: %cosycc -O0 -D_GNU_SOURCE -finstrument-functions %s -o %t && env COSY_MODE=native %t | FileCheck %s
// RUN: %cosycc -O2 -D_GNU_SOURCE -S -emit-llvm %s -o - | FileCheck %s --check-prefix=APART
// CHECK: apart 5
// CHECK-NEXT: plain 5
// CHECK-NEXT: always 5
// APART: call {{.*}}@apart(
#ifdef COSY_PLAIN
#define COSY_START
#define COSY_END
#else
#include <cosy/cosy.h>
#endif
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function))

static int entered[3];

__attribute__((noinline)) static void apart(int fd, char *buf)
{
	for (int i = 0; i < 3; i++)
		read(fd, buf, 1);
}

static void plain(int fd, char *buf)
{
	for (int i = 0; i < 4; i++)
		read(fd, buf, 1);
}

__attribute__((always_inline)) static inline void always(int fd, char *buf)
{
	for (int i = 0; i < 5; i++)
		read(fd, buf, 1);
}

UNSEEN void __cyg_profile_func_enter(void *function, void *caller)
{
	entered[0] += function == (void *)apart;
	entered[1] += function == (void *)plain;
	entered[2] += function == (void *)always;
}

UNSEEN void __cyg_profile_func_exit(void *function, void *caller)
{
}

UNSEEN int main(void)
{
	char buf[16];
	int fd = open("/dev/zero", O_RDONLY);
	COSY_START;
	for (int i = 0; i < 5; i++) {
		apart(fd, buf);
		plain(fd, buf);
		always(fd, buf);
	}
	COSY_END;
	printf("apart %d\nplain %d\nalways %d\n", entered[0], entered[1], entered[2]);
	return 0;
}
