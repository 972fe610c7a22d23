/* SPDX-License-Identifier: MIT */
/*
 * Gives bad pointers to system calls in a region: EFAULT, no signal, and not a byte of the kernel
 * read or written.
 */
#include "check.h"
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

static const uint64_t bad[] = {
	0,
	8,
	0xffffffff81000000,
	0xffffffff82000000,
	0xffff888000000000,
	0xffff800000000000,
	0x0000800000000000,
	0xfffffffffffff000,
	0xffffffffffffffff,
	0xffffffffffffff00,
};

#define EFAULTS(what, at, call)                                                                    \
	do {                                                                                       \
		long ret_;                                                                         \
		int err_ = 0;                                                                      \
		errno = 0;                                                                         \
		COSY_START;                                                                        \
		ret_ = (call);                                                                     \
		err_ = errno;                                                                      \
		COSY_END;                                                                          \
		made++;                                                                            \
		CHECK(ret_ == -1 && err_ == EFAULT, "%s at %#llx: %ld, errno %d", what,            \
		      (unsigned long long)(at), ret_, err_);                                       \
	} while (0)

int main(void)
{
	struct cosy_stats before = counts();
	int zero = open("/dev/zero", O_RDONLY), wire[2], made = 0;
	char text[8];

	MUST(zero >= 0);
	MUST(!pipe(wire));
	MUST(write(wire[1], "12345678", 8) == 8);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		void *p = (void *)bad[i];
		struct iovec inside = { p, 8 };
		struct iovec *outside = p;

		EFAULTS("read", p, read(zero, p, 8));
		EFAULTS("read of a pipe", p, read(wire[0], p, 8));
		EFAULTS("write", p, write(wire[1], p, 8));
		EFAULTS("open", p, open(p, O_RDONLY));
		EFAULTS("stat", p, stat("/", p));
		EFAULTS("stat of", p, stat(p, (struct stat *)text));
		EFAULTS("pipe", p, pipe(p));
		EFAULTS("uname", p, syscall(SYS_uname, p));
		EFAULTS("readv through", p, readv(zero, &inside, 1));
		EFAULTS("writev of", p, writev(wire[1], outside, 1));
		if (p)
			EFAULTS("nanosleep", p, syscall(SYS_nanosleep, p, p));
	}
	/* The calls must have taken nothing from the pipe, and put nothing into it. */
	MUST(read(wire[0], text, 8) == 8);
	CHECK(!memcmp(text, "12345678", 8), "the pipe holds %.8s", text);
	MUST(!fcntl(wire[0], F_SETFL, O_NONBLOCK));
	CHECK(read(wire[0], text, 8) == -1 && errno == EAGAIN, "the pipe holds more");
	CHECK_KERNEL(before, made, made);
	return check_end();
}
