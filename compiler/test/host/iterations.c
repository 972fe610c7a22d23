// The host counts the iterations of a loop without calls at the loop's end.  The compiler estimates
// their number from the size of the object that the loop traverses, so that a region stays native
// if these iterations lose too much.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The condition makes a call in each iteration, although its && has a path around the call.
long both(int fd, long count)
{
	long bytes = 0, lines = 0;
	char c;

	// CHECK: iterations.c:[[#@LINE+1]]:2: remark: gain: entering the kernel {{saves|costs}} {{[0-9]+}}, an iteration of its loop saves {{[1-9][0-9]*}}
	COSY_START;
	while (bytes < count && read(fd, &c, 1) == 1) {
		lines += c == '\n';
		bytes++;
	}
	COSY_END;
	return lines;
}

// A call by number saves as much as a call by name.
long numbers(long count)
{
	long made = 0;

	// CHECK: iterations.c:[[#@LINE+1]]:2: remark: gain: entering the kernel {{saves|costs}} {{[0-9]+}}, an iteration of its loop saves {{[1-9][0-9]*}}
	COSY_START;
	for (long i = 0; i < count; i++)
		made += syscall(SYS_getppid) > 0;
	COSY_END;
	return made;
}

// Some iterations only skip an entry, so the head counts the previous iteration.
long folder(int dir, char *names)
{
	long sum = 0;

	// CHECK: iterations.c:[[#@LINE+1]]:2: remark: gain: entering the kernel costs {{[0-9]+}}, an iteration of its loop saves {{[1-9][0-9]*}}, of another saves {{[1-9][0-9]*}}
	COSY_START;
	for (;;) {
		ssize_t len = sum < 0 ? -1 : getdents64(dir, names, 4096);

		if (len <= 0)
			break;
		for (ssize_t at = 0; at < len;) {
			struct dirent64 *d = (struct dirent64 *)(names + at);
			struct stat st;

			at += d->d_reclen;
			if (d->d_name[0] == '.')
				continue;
			if (fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
				break;
			sum += st.st_size;
		}
	}
	COSY_END;
	return sum;
}

// The index of a loop over bytes counts its iterations.
long lines(int fd, const char *bytes, long count)
{
	long from = 0;

	// CHECK: iterations.c:[[#@LINE+1]]:2: remark: region runs natively: it is expected to lose in the kernel (-fcosy-force runs it there): entering the kernel costs {{[0-9]+}}, an iteration of its loop costs {{[0-9]+}} instructions;
	COSY_START;
	for (long i = 0; i < count; i++)
		if (bytes[i] == '\n' || bytes[i] == '\v' || bytes[i] == '\f') {
			if (write(fd, bytes + from, i - from) < 0)
				break;
			from = i + 1;
		}
	COSY_END;
	return from;
}

// Most iterations take a byte from a buffer that a call fills now and then.
long filled(int fd, char *buffer, char last)
{
	long sum = 0, at = 0, len = 0;
	char c;

	// CHECK: iterations.c:[[#@LINE+1]]:2: remark: region runs natively: it is expected to lose in the kernel (-fcosy-force runs it there): entering the kernel costs {{[0-9]+}} instructions;
	COSY_START;
	do {
		if (at == len) {
			len = read(fd, buffer, 4096);
			if (len <= 0)
				break;
			at = 0;
		}
		c = buffer[at++];
		sum += c;
	} while (c != last);
	COSY_END;
	return sum;
}

// Three calls save less than 4096 iterations of the inner loop lose: these are counted at its end.
long block(int fd, int to)
{
	char bytes[4096];
	long sum = 0;
	ssize_t got;

	// CHECK: iterations.c:[[#@LINE+1]]:2: remark: gain: entering the kernel costs {{[0-9]+}}, an iteration of its loop saves {{[1-9][0-9]*}}
	COSY_START;
	while (lseek(fd, 0, SEEK_CUR) >= 0 && (got = read(fd, bytes, sizeof(bytes))) > 0) {
		for (ssize_t i = 0; i < got; i++)
			sum += bytes[i];
		if (write(to, bytes, got) < 0)
			break;
	}
	COSY_END;
	return sum;
}

// A record of eight words has room for eight iterations.
long record(int fd, int to)
{
	long words[8], sum = 0;
	ssize_t got;

	// CHECK: iterations.c:[[#@LINE+1]]:2: remark: gain: entering the kernel {{saves|costs}} {{[0-9]+}}, an iteration of its loop saves {{[1-9][0-9]*}}
	COSY_START;
	while ((got = read(fd, words, sizeof(words))) > 0) {
		for (size_t i = 0; i < got / sizeof(words[0]); i++)
			sum += words[i];
		if (write(to, words, got) < 0)
			break;
	}
	COSY_END;
	return sum;
}
