// Where libcosy makes the calls of an operation by libc's functions, a region with that operation
// stays native if one of them is not libc's.  Where it makes them itself, nothing differs.
// REQUIRES: links
// RUN: %cosycc -O2 -Werror=cosy %s -o %t
// RUN: env COSY_MODE=interp COSY_DEBUG=1 %t 2>&1 | FileCheck %s --check-prefix=PLAIN --allow-empty
// PLAIN-NOT: stays native
// RUN: sh %S/Inputs/called.sh %t %S/Inputs/called.c | FileCheck %s
// CHECK: openat called: read_file write_file{{$}}
// CHECK-NEXT: openat native: read_file write_file{{$}}
// CHECK-NEXT: read called: epoll_read read_file read_view readc seek_read transfer{{$}}
// CHECK-NEXT: read native: epoll_read read_file read_view readc seek_read transfer transfer_flags{{$}}
// CHECK-NEXT: write called: lend_file loan seek_write write_file write_view{{$}}
// CHECK-NEXT: write native: lend lend_file loan loan_flags seek_write write_file write_view{{$}}
// CHECK-NEXT: lseek called: seek_read seek_write{{$}}
// CHECK-NEXT: lseek native: seek_read seek_write{{$}}
// CHECK-NEXT: epoll_wait called: epoll_read{{$}}
// CHECK-NEXT: epoll_wait native: epoll_read{{$}}
// CHECK-NEXT: send called: lend lend_file loan_flags{{$}}
// CHECK-NEXT: send native: lend lend_file loan loan_flags{{$}}
// CHECK-NEXT: recv called: transfer_flags{{$}}
// CHECK-NEXT: recv native: transfer transfer_flags{{$}}
// CHECK-NEXT: sendmsg called: pass{{$}}
// CHECK-NEXT: sendmsg native: pass{{$}}
// CHECK-NEXT: pwrite called: pass{{$}}
// CHECK-NEXT: pwrite native: pass{{$}}
// CHECK-NEXT: getdents64 called:{{$}}
// CHECK-NEXT: getdents64 native:{{$}}
// CHECK-NEXT: fstatat called:{{$}}
// CHECK-NEXT: fstatat native:{{$}}
// CHECK-NOT: {{.}}
#include <cosy/cosy.h>
#include <cosy/fast.h>
#include <cosy/move.h>
#include <fcntl.h>
#include <linux/cosy.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

extern int called __attribute__((weak)); // of Inputs/called.c

/* Makes an operation in a region of its own. */
#define OPERATION(name, operation)                                                                 \
	static void name(int fd)                                                                   \
	{                                                                                          \
		_Alignas(8) char buffer[4096];                                                     \
		long result;                                                                       \
                                                                                                   \
		COSY_START;                                                                        \
		result = operation;                                                                \
		COSY_END;                                                                          \
		if (result < 0)                                                                    \
			perror(#name);                                                             \
	}

OPERATION(read_view, cosy_read(fd, buffer, 1))
OPERATION(write_view, cosy_write(fd, buffer, 1))
OPERATION(readc, cosy_readc(fd))
OPERATION(seek_read, cosy_seek_read(fd, buffer, 1, 0, SEEK_SET))
OPERATION(seek_write, cosy_seek_write(fd, buffer, 1, 0, SEEK_SET))
OPERATION(read_file, cosy_read_file(fd, "file", buffer, sizeof(buffer), O_RDONLY))
OPERATION(write_file, cosy_write_file(fd, "file", buffer, sizeof(buffer), O_WRONLY))
OPERATION(scan_dir, cosy_scan_dir(fd, buffer, sizeof(buffer), 0))
OPERATION(epoll_read, cosy_epoll_read(fd, buffer, sizeof(buffer), 1, 0))
OPERATION(lend, cosy_lend(fd, buffer, 1, 0))
OPERATION(lend_file, cosy_lend(fd, buffer, 1, 0))
OPERATION(loan, cosy_loan(fd, buffer, 1, 0))
OPERATION(loan_flags, cosy_loan(fd, buffer, 1, MSG_NOSIGNAL))
OPERATION(transfer, cosy_transfer(fd, buffer, 1, 0))
OPERATION(transfer_flags, cosy_transfer(fd, buffer, 1, MSG_DONTWAIT))
OPERATION(pass, cosy_pass(fd, 0, buffer, 1, COSY_COPY))

static void check(const char *name, void (*make)(int fd), int fd)
{
	int before = &called ? called : 0;

	make(fd);
	if (&called && called != before)
		puts(name);
}

int main(void)
{
#define CHECK(make, fd) check(#make, make, fd)
	struct epoll_event event = {.events = EPOLLIN};
	int here = open(".", O_RDONLY | O_DIRECTORY), epoll = epoll_create1(0);
	int file = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600), ends[2], port[2];

	if (here < 0 || file < 0 || epoll < 0 || cosy_port(4096, port) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return 1;
	CHECK(write_view, file);
	CHECK(seek_write, file);
	CHECK(write_file, here);
	CHECK(read_view, file);
	CHECK(readc, file);
	CHECK(seek_read, file);
	CHECK(read_file, here);
	CHECK(scan_dir, here);
	CHECK(lend, ends[0]);
	CHECK(lend_file, file);
	CHECK(loan, ends[0]);
	CHECK(loan_flags, ends[0]);
	CHECK(transfer, ends[1]);
	CHECK(transfer_flags, ends[1]);
	event.data.u64 = (uint32_t)ends[1] | COSY_ARRIVAL_READ;
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, ends[1], &event))
		return 1;
	CHECK(epoll_read, epoll);
	CHECK(pass, port[1]);
	return 0;
}
