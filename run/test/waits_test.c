// SPDX-License-Identifier: MIT
/*
 * waits_test.c - a writer comes while a program without signal handlers waits in a call, and reads
 * from a window before and after: the call is as without a window.  Nothing is cut short, and the
 * writer does not wait for the call.
 */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

#include "check.h"
#include "parent.h"
#include "raw.h"

#define LONG  (1 << 20) /* more than any pipe or socket takes at once */
#define FAR   1000	/* s */
#define READS 100

static char path[200], big[LONG];
static int pipe_ends[2], sockets[2], queue, semaphores;
static mqd_t posix_queue;

/* Shared with the writer. */
static struct shared {
	sem_t semaphore;
	volatile bool waits; /* the reader is about to wait */
} *shared;

static struct timespec far_away(clockid_t clock)
{
	struct timespec time;

	CHECK(!clock_gettime(clock, &time));
	time.tv_sec += FAR;
	return time;
}

/* --- Calls that the reader waits in, and how the writer ends each --- */

static void pipe_written(void)
{
	CHECK(write(pipe_ends[1], big, LONG) == LONG);
}

static void pipe_written_by_parts(void)
{
	struct iovec parts[2] = {{big, LONG / 2}, {big + LONG / 2, LONG / 2}};

	CHECK(writev(pipe_ends[1], parts, 2) == LONG);
}

static void drain_pipe(void)
{
	for (size_t got = 0; got < LONG;)
		got += read(pipe_ends[0], big, LONG - got);
}

static void socket_sent(void)
{
	CHECK(send(sockets[0], big, LONG, 0) == LONG);
}

static void message_sent(void)
{
	struct iovec part = {big, LONG};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	CHECK(sendmsg(sockets[0], &message, 0) == LONG);
}

static void drain_socket(void)
{
	for (size_t got = 0; got < LONG;)
		got += read(sockets[1], big, LONG - got);
}

static void all_received(void)
{
	CHECK(recv(sockets[0], big, 8, MSG_WAITALL) == 8);
}

static void received_in_time(void)
{
	struct timeval far = {FAR, 0}, never = {0, 0};

	CHECK(!setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &far, sizeof(far)));
	CHECK(recv(sockets[0], big, 8, MSG_WAITALL) == 8);
	CHECK(!setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &never, sizeof(never)));
}

static void send_8(void)
{
	CHECK(send(sockets[1], "12345678", 8, 0) == 8);
}

static void polled(void)
{
	struct pollfd ready = {.fd = sockets[0], .events = POLLIN};

	CHECK(poll(&ready, 1, -1) == 1 && recv(sockets[0], big, 8, 0) == 8);
}

/* Called by _FORTIFY_SOURCE. */
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t fds_len);

static void polled_fortified(void)
{
	struct pollfd ready = {.fd = sockets[0], .events = POLLIN};

	CHECK(__poll_chk(&ready, 1, FAR * 1000, sizeof(ready)) == 1);
	CHECK(recv(sockets[0], big, 8, 0) == 8);
}

static void selected(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(sockets[0], &set);
	CHECK(select(sockets[0] + 1, &set, NULL, NULL, NULL) == 1);
	CHECK(recv(sockets[0], big, 8, 0) == 8);
}

static void epolled(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(0);

	CHECK(!epoll_ctl(epoll, EPOLL_CTL_ADD, sockets[0], &event));
	CHECK(epoll_wait(epoll, &event, 1, -1) == 1 && recv(sockets[0], big, 8, 0) == 8);
	close(epoll);
}

static void posted(void)
{
	struct timespec time = far_away(CLOCK_REALTIME);

	CHECK(!sem_timedwait(&shared->semaphore, &time));
}

static void post(void)
{
	CHECK(!sem_post(&shared->semaphore));
}

static void mailed(void)
{
	struct timespec time = far_away(CLOCK_REALTIME);

	CHECK(mq_timedreceive(posix_queue, big, LONG, NULL, &time) == 1);
}

static void mail(void)
{
	CHECK(!mq_send(posix_queue, "x", 1, 0));
}

static void got_message(void)
{
	struct {
		long type;
		char text[8];
	} message;

	CHECK(msgrcv(queue, &message, sizeof(message.text), 1, 0) == 8);
}

static void put_message(void)
{
	struct {
		long type;
		char text[8];
	} message = {1, "1234567"};

	CHECK(!msgsnd(queue, &message, sizeof(message.text), 0));
}

static void lowered(void)
{
	struct sembuf down = {0, -1, 0};
	struct timespec far = {FAR, 0};

	CHECK(!semtimedop(semaphores, &down, 1, &far));
}

static void raise_it(void)
{
	struct sembuf up = {0, 1, 0};

	CHECK(!semop(semaphores, &up, 1));
}

static void signalled(void)
{
	struct timespec far = {FAR, 0};
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK(!sigprocmask(SIG_BLOCK, &set, &old));
	CHECK(sigtimedwait(&set, NULL, &far) == SIGUSR1);
	CHECK(!sigprocmask(SIG_SETMASK, &old, NULL));
}

static void send_signal(void)
{
	CHECK(!kill(getppid(), SIGUSR1));
}

static volatile bool woken;

static void wake(int signal)
{
	(void)signal;
	woken = true;
}

/* Waits in calls that end by a signal only: the program's own, which comes last. */
static void slept(void)
{
	struct timespec far = {FAR, 0};

	woken = false;
	CHECK(signal(SIGUSR1, wake) == SIG_DFL);
	CHECK(nanosleep(&far, NULL) == -1 && errno == EINTR && woken);
	signal(SIGUSR1, SIG_DFL);
}

static void slept_as_thread(void)
{
	struct timespec far = {FAR, 0};

	woken = false;
	CHECK(signal(SIGUSR1, wake) == SIG_DFL);
	CHECK(thrd_sleep(&far, NULL) == -1 && woken);
	signal(SIGUSR1, SIG_DFL);
}

/* Blocks every signal that there is, 33 too, past any library. */
static void blocked(void)
{
	uint64_t all = ~0ULL, old;

	CHECK(!RAW(rt_sigprocmask, SIG_SETMASK, &all, &old, sizeof(all)));
	received_in_time();
	CHECK(!RAW(rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old)));
}

/* An older function that waits, which lets that signal in alone. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void paused(void)
{
	woken = false;
	CHECK(signal(SIGUSR1, wake) == SIG_DFL && !sighold(SIGUSR1));
	CHECK(sigpause(SIGUSR1) == -1 && errno == EINTR && woken);
	CHECK(!sigrelse(SIGUSR1));
	signal(SIGUSR1, SIG_DFL);
}

static void *thread_received(void *unused)
{
	received_in_time();
	return unused;
}

/* Waits in a thread whose attributes block all signals. */
static void blocked_by_attributes(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all;

	CHECK(!sigfillset(&all) && !pthread_attr_init(&attributes));
	CHECK(!pthread_attr_setsigmask_np(&attributes, &all));
	CHECK(!pthread_create(&thread, &attributes, thread_received, NULL));
	CHECK(!pthread_join(thread, NULL));
	pthread_attr_destroy(&attributes);
}

/* Waits with one thread more from now on, which libc makes. */
static void input_came(void)
{
	struct aiocb input = {.aio_fildes = sockets[0], .aio_buf = big, .aio_nbytes = 8};
	const struct aiocb *const list[] = {&input};

	CHECK(!aio_read(&input));
	CHECK(!aio_suspend(list, 1, NULL) && aio_return(&input) == 8);
}

static const struct {
	const char *name;
	void (*wait)(void);
	void (*end)(void);
} cases[] = {
	{"write", pipe_written, drain_pipe},
	{"writev", pipe_written_by_parts, drain_pipe},
	{"send", socket_sent, drain_socket},
	{"sendmsg", message_sent, drain_socket},
	{"recv", all_received, send_8},
	{"recv in time", received_in_time, send_8},
	{"poll", polled, send_8},
	{"select", selected, send_8},
	{"epoll_wait", epolled, send_8},
	{"sem_timedwait", posted, post},
	{"mq_timedreceive", mailed, mail},
	{"msgrcv", got_message, put_message},
	{"semtimedop", lowered, raise_it},
	{"sigtimedwait", signalled, send_signal},
	{"nanosleep", slept, send_signal},
	{"thrd_sleep", slept_as_thread, send_signal},
	{"poll, fortified", polled_fortified, send_8},
	{"all signals blocked", blocked, send_8},
	{"sigpause", paused, send_signal},
	{"all signals blocked by attributes", blocked_by_attributes, send_8},
	{"aio_suspend", input_came, send_8},
};

#define CASES (sizeof(cases) / sizeof(*cases))

static void write_number(size_t number)
{
	int fd = RAW(openat, AT_FDCWD, path, O_WRONLY);
	char byte = number;

	CHECK(fd >= 0 && RAW(pwrite64, fd, &byte, 1, (long)READS + number) == 1);
	RAW(close, fd);
}

static int writer(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < CASES; i++) {
		char state;

		while (!shared->waits)
			usleep(100);
		do {
			usleep(100);
			state = parent_state();
		} while (state != 'S');
		/* End the lease first. */
		write_number(i);
		shared->waits = false;
		cases[i].end();
	}
	return 0;
}

/* Returns a descriptor at READS, specialised by reads. */
static int specialised(void)
{
	int fd = open(path, O_RDONLY);
	char byte;

	for (int i = 0; i < READS; i++)
		CHECK(read(fd, &byte, 1) == 1 && !byte);
	CHECK(RAW(lseek, fd, 0, SEEK_CUR) < READS);
	return fd;
}

static void make_things(void)
{
	struct mq_attr one = {.mq_maxmsg = 1, .mq_msgsize = 16};
	char name[64];

	CHECK(!pipe(pipe_ends) && !socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	CHECK(shared != MAP_FAILED && !sem_init(&shared->semaphore, 1, 0));
	queue = msgget(IPC_PRIVATE, 0600);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	CHECK(queue >= 0 && semaphores >= 0);
	snprintf(name, sizeof(name), "/cosy-run-waits.%d", getpid());
	posix_queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &one);
	CHECK(posix_queue >= 0 && !mq_unlink(name));
}

int main(void)
{
	const char *dir = getenv("TMPDIR");
	int status = -1;
	pid_t child;

	snprintf(path, sizeof(path), "%s/cosy-run-waits.%d", dir ? dir : "/tmp", getpid());
	make_things();
	CHECK(!close(open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600)) && !truncate(path, 10000));
	child = fork();
	if (!child)
		_exit(writer());
	for (size_t i = 0; i < CASES; i++) {
		int fd = specialised();
		char byte = -1;

		printf("%s\n", cases[i].name);
		fflush(stdout);
		shared->waits = true;
		cases[i].wait();
		CHECK(pread(fd, &byte, 1, READS + i) == 1 && byte == (char)i);
		close(fd);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
	msgctl(queue, IPC_RMID, NULL);
	semctl(semaphores, 0, IPC_RMID);
	unlink(path);
	return 0;
}
