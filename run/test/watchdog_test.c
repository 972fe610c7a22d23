// SPDX-License-Identifier: MIT
/*
 * watchdog_test.c - stops a program that has a window, and waits until its lease is returned.  Then
 * it writes to the file and continues the program, which must read the new bytes.  Without a
 * watchdog the lease stays until a writer waits for it, so this test never ends.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "check.h"
#include "raw.h"

#define READ_AT	 100
#define VERSIONS 3

static char path[200];
static struct stat st;

/* Returns whether /proc/locks has a lease on the file. */
static bool is_leased(void)
{
	char wanted[64], line[200];
	bool found = false;
	FILE *locks = fopen("/proc/locks", "re");

	CHECK(locks);
	snprintf(wanted, sizeof(wanted), " %02x:%02x:%lu ", major(st.st_dev), minor(st.st_dev),
		 (unsigned long)st.st_ino);
	while (fgets(line, sizeof(line), locks))
		found |= strstr(line, "LEASE") && strstr(line, wanted);
	fclose(locks);
	return found;
}

static bool has_watchdog(pid_t reader)
{
	FILE *names = popen("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'", "re");
	char wanted[64], line[4096], before[4096] = "";
	bool found = false;

	CHECK(names);
	snprintf(wanted, sizeof(wanted), "%d\n", (int)reader);
	while (fgets(line, sizeof(line), names)) {
		found |= !strcmp(before, "cosy-watchdog\n") && !strcmp(line, wanted);
		strcpy(before, line);
	}
	pclose(names);
	return found;
}

/* Reads one byte repeatedly, and writes each new value to `values`. */
static int reader(int values)
{
	char before = 0, byte = -1;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = open(path, O_RDONLY);
	while (before < VERSIONS) {
		CHECK(pread(fd, &byte, 1, READ_AT) == 1);
		if (byte == before)
			continue;
		/* All bytes have one value: the reader is stopped while the file is written. */
		CHECK(byte == before + 1 && pread(fd, &byte, 1, READ_AT + 1) == 1 &&
		      byte == before + 1);
		before = byte;
		CHECK(RAW(write, values, &byte, 1L) == 1);
	}
	return 0;
}

static void overwrite(char version)
{
	char bytes[READ_AT * 2];
	int fd = RAW(openat, AT_FDCWD, path, O_WRONLY);

	memset(bytes, version, sizeof(bytes));
	CHECK(fd >= 0 && RAW(pwrite64, fd, bytes, sizeof(bytes), 0L) == sizeof(bytes));
	RAW(close, fd);
}

static void wait_until(bool wanted)
{
	while (is_leased() != wanted)
		usleep(10000);
}

int main(void)
{
	const char *dir = getenv("TMPDIR");
	int status = -1, values[2];
	pid_t child;

	snprintf(path, sizeof(path), "%s/cosy-watchdog.%d", dir ? dir : "/tmp", getpid());
	CHECK(!close(open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600)) && !truncate(path, 10000));
	CHECK(!stat(path, &st) && !pipe(values));
	child = fork();
	if (!child)
		_exit(reader(values[1]));
	/* The watchdog starts when there has been a lease for a second. */
	while (!has_watchdog(child))
		usleep(10000);
	for (char version = 1; version <= VERSIONS; version++) {
		char value;

		wait_until(true);
		CHECK(!kill(child, SIGSTOP));
		CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
		wait_until(false);
		overwrite(version);
		CHECK(!kill(child, SIGCONT));
		CHECK(RAW(read, values[0], &value, 1L) == 1 && value == version);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
	while (has_watchdog(child))
		usleep(10000);
	unlink(path);
	return 0;
}
