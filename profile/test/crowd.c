// SPDX-License-Identifier: MIT
/*
 * crowd.c - makes many calls, or many processes.
 *
 *   crowd flood N	says "ready", waits for a line of input, makes N times getppid, says "done"
 *   crowd forks N	N children in turn, each of which calls getuid and ends
 *   crowd others N	the same with getgid
 *   crowd rewrite N	N times access and write, of memory that another thread rewrites and unmaps meanwhile
 *   crowd serve N	says "ready"; for each line of input N times getppid, and says "done"
 *   crowd corpse N	has N children that have ended and are not waited for, prints the number of the last, and
 *			waits for the end of its input
 *   crowd threads N	N threads at once, each of which calls getuid when all are there
 *   crowd callers N	2 * N times getuid from two functions whose frames are alike: N / 4 + 1
 *			times from one, then from the other, and so on; one more, so that the
 *			other does not begin where a stack is looked at
 *   crowd raw N	reads a byte of its own program N times by syscall(), and as often by read()
 *   crowd compute N	computes N million rounds after its last call
 *   crowd abandon N	ends when a thread of its has computed for N ms, and goes on
 *   crowd await N PID	waits until a process has computed for N ms more
 *   crowd depths N	open from N places of the stack, 32 bytes apart
 */
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int crowd_flood(int n)
{
	if (write(STDOUT_FILENO, "ready\n", 6) != 6 || getchar() == EOF)
		return 1;
	for (int i = 0; i < n; i++)
		syscall(SYS_getppid);
	return write(STDOUT_FILENO, "done\n", 5) != 5;
}

static int crowd_say(const char *what)
{
	return write(STDOUT_FILENO, what, strlen(what)) == (ssize_t)strlen(what);
}

static int crowd_serve(int n)
{
	char byte;

	if (!crowd_say("ready\n"))
		return 1;
	while (read(STDIN_FILENO, &byte, 1) == 1) {
		for (int i = 0; byte == '\n' && i < n; i++)
			syscall(SYS_getppid);
		if (byte == '\n' && !crowd_say("done\n"))
			return 1;
	}
	return 0;
}

static int crowd_corpse(int n)
{
	char text[32], byte;
	siginfo_t ended;
	pid_t pid = 0;

	for (int i = 0; i < n; i++) {
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid < 0 || waitid(P_PID, pid, &ended, WEXITED | WNOWAIT))
			return 1;
	}
	snprintf(text, sizeof(text), "%d\n", (int)pid);
	if (!crowd_say(text))
		return 1;
	while (read(STDIN_FILENO, &byte, 1) == 1)
		;
	return 0;
}

static int crowd_fork(int n, int nr)
{
	for (int i = 0; i < n; i++) {
		int status;
		pid_t pid = fork();

		if (!pid) {
			syscall(nr);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}

/* A path and a buffer that reach from one page into another, which comes and goes. */
static char *volatile shifting;

static void *crowd_rewriter(void *argument)
{
	(void)argument;
	for (unsigned int i = 0;; i++) {
		memset(shifting + 4000, "\033/<&\377"[i % 5], 96);
		mprotect(shifting + 4096, 4096, i % 2 ? PROT_NONE : PROT_READ | PROT_WRITE);
		shifting[4000 + i % 96] = 0;
	}
	return NULL;
}

static int crowd_rewrite(int n)
{
	int null = open("/dev/null", O_WRONLY);
	pthread_t thread;

	shifting = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (shifting == MAP_FAILED || null < 0 ||
	    pthread_create(&thread, NULL, crowd_rewriter, NULL))
		return 1;
	for (int i = 0; i < n; i++) {
		syscall(SYS_access, shifting + 4000, R_OK);
		syscall(SYS_write, null, shifting + 4064, 64);
	}
	return 0;
}

/* The libc function has a frame of its own between this one's and the system call. */
__attribute__((noinline)) static int crowd_depths(int n)
{
	for (int i = 0; i < n; i++) {
		char *volatile room = alloca(16);
		int null = open("/dev/null", O_RDONLY);

		room[0] = 0;
		if (null < 0)
			return 1;
		close(null);
	}
	return 0;
}

static int crowd_raw(int n, const char *program)
{
	int file = open(program, O_RDONLY);
	char byte;

	for (int i = 0; i < n; i++)
		if (syscall(SYS_read, file, &byte, 1) != 1)
			return 1;
	for (int i = 0; i < n; i++)
		if (read(file, &byte, 1) != 1)
			return 1;
	return 0;
}

static int crowd_compute(int n)
{
	for (volatile long i = n * 1000000L; i; i--)
		;
	return 0;
}

static void *crowd_computer(void *argument)
{
	for (volatile long i = 1; i;)
		i |= 1;
	return argument;
}

/* Sleeps until a thread or a process has had a processor for n ms more. */
static int crowd_sleep(clockid_t clock, int n)
{
	struct timespec time;
	int error;

	if (clock_gettime(clock, &time))
		return 1;
	time.tv_sec += n / 1000;
	time.tv_nsec += n % 1000 * 1000000L;
	if (time.tv_nsec >= 1000000000) {
		time.tv_sec++;
		time.tv_nsec -= 1000000000;
	}
	do
		error = clock_nanosleep(clock, TIMER_ABSTIME, &time, NULL);
	while (error == EINTR);
	return error != 0;
}

static int crowd_abandon(int n)
{
	pthread_t thread;
	clockid_t clock;

	if (pthread_create(&thread, NULL, crowd_computer, NULL) ||
	    pthread_getcpuclockid(thread, &clock))
		return 1;
	return crowd_sleep(clock, n);
}

static int crowd_await(int n, pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) || crowd_sleep(clock, n);
}

static pthread_barrier_t crowd_there;

static void *crowd_member(void *argument)
{
	pthread_barrier_wait(&crowd_there);
	syscall(SYS_getuid);
	return argument;
}

static int crowd_threads(int n)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&crowd_there, NULL, n + 1);
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread, &small, crowd_member, NULL))
			return 1;
	pthread_barrier_wait(&crowd_there);
	pthread_exit(NULL);
}

__attribute__((noinline)) static long crowd_call(void)
{
	long ret = syscall(SYS_getuid);

	__asm__ volatile("" ::: "memory");
	return ret;
}

__attribute__((noinline)) static long crowd_one(void)
{
	return crowd_call() + 1;
}

__attribute__((noinline)) static long crowd_other(void)
{
	return crowd_call() - 1;
}

static int crowd_callers(int n)
{
	long (*volatile callers[2])(void) = {crowd_one, crowd_other};
	long sum = 0;

	for (int i = 0; i < 2 * n; i++)
		sum += callers[i / (n / 4 + 1) % 2]();
	return sum != 2 * n * (long)getuid();
}

int main(int argc, char **argv)
{
	int n = argc >= 3 ? atoi(argv[2]) : 0;

	if (n > 0 && argc == 4 && !strcmp(argv[1], "await"))
		return crowd_await(n, atoi(argv[3]));
	if (argc != 3)
		return 2;
	if (n > 0 && !strcmp(argv[1], "flood"))
		return crowd_flood(n);
	if (n > 0 && !strcmp(argv[1], "serve"))
		return crowd_serve(n);
	if (n > 0 && !strcmp(argv[1], "corpse"))
		return crowd_corpse(n);
	if (n > 0 && !strcmp(argv[1], "forks"))
		return crowd_fork(n, SYS_getuid);
	if (n > 0 && !strcmp(argv[1], "others"))
		return crowd_fork(n, SYS_getgid);
	if (n > 0 && !strcmp(argv[1], "rewrite"))
		return crowd_rewrite(n);
	if (n > 0 && !strcmp(argv[1], "threads"))
		return crowd_threads(n);
	if (n >= 4 && !strcmp(argv[1], "callers"))
		return crowd_callers(n);
	if (n > 0 && !strcmp(argv[1], "raw"))
		return crowd_raw(n, argv[0]);
	if (n > 0 && !strcmp(argv[1], "compute"))
		return crowd_compute(n);
	if (n > 0 && !strcmp(argv[1], "abandon"))
		return crowd_abandon(n);
	if (n > 0 && !strcmp(argv[1], "depths"))
		return crowd_depths(n);
	return 2;
}
