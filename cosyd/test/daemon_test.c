// SPDX-License-Identifier: MIT
/*
 * daemon_test.c CASE COSYD - tests the lease daemon, as its clients see it.  Each case has a
 * daemon of its own.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

static const char *cosyd;

/* A file, a connection, and the daemon's answer. */
struct taken {
	char path[128];
	int client, fd;
	const struct cosyd_memory *memory;
	struct cosyd_reply reply;
};

static struct taken take_new(void)
{
	struct taken taken;

	strcpy(taken.path, file_make());
	taken.client = client_connect();
	CHECK(taken.client >= 0);
	taken.memory = client_memory(taken.client, NULL);
	taken.fd = open(taken.path, O_RDONLY | O_CLOEXEC);
	taken.reply = client_take(taken.client, taken.fd);
	CHECK(!taken.reply.error);
	return taken;
}

static bool valid(const struct taken *taken)
{
	return cosyd_alive(&taken->memory->keeper) &&
	       __atomic_load_n(&taken->memory->words[taken->reply.slot], __ATOMIC_ACQUIRE) ==
		       taken->reply.value;
}

static bool invalid(const void *taken)
{
	return !valid(taken);
}

/* Lets a writer in, which breaks every lease; when this returns there is none. */
static void write_file(const char *path)
{
	int fd = open(path, O_WRONLY);

	CHECK(fd >= 0 && write(fd, "else", 4) == 4 && !close(fd));
}

/* Checks that a client of good will is served, whatever the test does meanwhile. */
static void check_served(void)
{
	struct taken taken = take_new();

	CHECK(valid(&taken));
	write_file(taken.path);
	CHECK(!valid(&taken));
	close(taken.client);
	close(taken.fd);
}

static void test_memory(void)
{
	int client, fd;

	daemon_start(cosyd, NULL);
	client = client_connect();
	client_memory(client, &fd);
	CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
	CHECK(write(fd, "x", 1) == -1);
	CHECK(ftruncate(fd, 0) == -1 && ftruncate(fd, 1 << 20) == -1);
	CHECK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == -1);
	CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == -1);
}

/* Has one lease for two clients with three descriptors. */
static void test_shared(void)
{
	static const char *const at_once[] = {"--hold-off", "0", NULL};
	struct taken one, two, again;

	daemon_start(cosyd, at_once);
	one = two = take_new();
	two.client = client_connect();
	two.fd = open(one.path, O_RDONLY);
	two.reply = client_take(two.client, two.fd);
	CHECK(!two.reply.error && two.reply.slot == one.reply.slot &&
	      two.reply.value == one.reply.value);
	again = one;
	again.reply = client_take(one.client, two.fd);
	CHECK(again.reply.slot == one.reply.slot && valid(&again));

	/* The lease lasts until the last client drops it. */
	client_ask(one.client, COSYD_DROP, one.reply.slot, -1);
	client_ask(one.client, COSYD_SYNC, 0, -1);
	CHECK(client_answer(one.client, &again.reply, NULL) && valid(&one));
	client_ask(one.client, COSYD_DROP, one.reply.slot, -1);
	client_ask(one.client, COSYD_SYNC, 0, -1);
	CHECK(client_answer(one.client, &again.reply, NULL) && valid(&two));

	/*
	 * It is broken for both; the next lease has another value, also for a client that kept the
	 * slot.
	 */
	write_file(one.path);
	CHECK(!valid(&one) && !valid(&two));
	again.reply = client_take(one.client, one.fd);
	CHECK(!again.reply.error && again.reply.value != one.reply.value);
	CHECK(valid(&again) && !valid(&two));
	close(two.client);
	close(one.client);
	wait_until(invalid, &again);
}

static void test_exit(void)
{
	struct taken taken;
	int fds[2], status;
	pid_t child;

	daemon_start(cosyd, NULL);
	CHECK(!pipe(fds));
	child = fork();
	if (!child) {
		taken = take_new();
		if (write(fds[1], &taken, sizeof(taken)) == sizeof(taken))
			raise(SIGKILL);
		_exit(1);
	}
	CHECK(read(fds[0], &taken, sizeof(taken)) == sizeof(taken));
	CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
	taken.memory = client_memory(client_connect(), NULL);
	wait_until(invalid, &taken);
	/* The writer has to wait for nobody. */
	CHECK(open(taken.path, O_WRONLY | O_NONBLOCK) >= 0);
}

static void test_hold_off(void)
{
	static const char *const long_time[] = {"--hold-off", "600000", NULL};
	struct taken taken;
	int writer;

	daemon_start(cosyd, long_time);
	taken = take_new();
	writer = open(taken.path, O_RDWR);
	CHECK(!valid(&taken));
	CHECK(client_take(taken.client, taken.fd).error == -EAGAIN);
	close(writer);
	CHECK(client_take(taken.client, taken.fd).error == -EAGAIN);
	check_served();
}

/* Has the lease taken again and again, which does not keep writers out for long. */
static void test_nonblocking(void)
{
	enum { TRIES = 60 };
	static const char *const short_time[] = {"--hold-off", "1", NULL};
	struct taken taken;
	int refused = 0;

	daemon_start(cosyd, short_time);
	taken = take_new();
	for (int i = 0; i < TRIES; i++) {
		int writer = open(taken.path, O_WRONLY | O_NONBLOCK);

		refused += writer < 0;
		CHECK(writer >= 0 || errno == EWOULDBLOCK);
		close(writer);
		usleep(2000);
		client_take(taken.client, taken.fd);
	}
	/* The file is quiet four times longer each time, from 1 ms to a quarter of an hour. */
	CHECK(refused > 0 && refused <= 11);
	check_served();
}

static void check_refused(int fd, int error)
{
	int client = client_connect();

	CHECK(fd >= 0);
	CHECK(client_take(client, fd).error == error);
	close(fd);
	close(client);
}

static int opened_path(void)
{
	return open(file_make(), O_PATH);
}

static void test_descriptors(void)
{
	int fds[2], writer;

	daemon_start(cosyd, NULL);
	CHECK(!pipe(fds));
	check_refused(fds[0], -EACCES);
	check_refused(fds[1], -EACCES);
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
	check_refused(fds[0], -EACCES);
	check_refused(epoll_create1(0), -EACCES);
	check_refused(opened_path(), -EACCES);
	check_refused(open(file_make(), O_RDWR), -EACCES);
	check_refused(open(file_make(), O_WRONLY), -EACCES);
	check_refused(open("/tmp", O_RDONLY | O_DIRECTORY), -EACCES);
	check_refused(open("/proc/self/status", O_RDONLY), -EACCES);
	check_refused(open("/dev/null", O_RDONLY), -EACCES);
	check_refused(memfd_create("mine", 0), -EACCES);
	check_refused(client_connect(), -EACCES);
	/* Have it open for writing. */
	writer = open(file_make(), O_RDWR);
	{
		char path[64];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", writer);
		check_refused(open(path, O_RDONLY), -EAGAIN);
	}
	check_served();
}

/* Does all that can be done to the client's own description, which the lease is not on. */
static void test_owner(void)
{
	struct taken taken;

	daemon_start(cosyd, NULL);
	taken = take_new();
	fcntl(taken.fd, F_SETSIG, 0);
	fcntl(taken.fd, F_SETOWN, getpid());
	fcntl(taken.fd, F_SETLEASE, F_UNLCK);
	CHECK(valid(&taken));
	write_file(taken.path);
	CHECK(!valid(&taken));
}

static unsigned int front_files(void)
{
	char path[64];
	unsigned int count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", daemon_front());
	dir = opendir(path);
	CHECK(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static bool front_has_files(const void *count)
{
	return front_files() == *(const unsigned int *)count;
}

static void test_garbage(void)
{
	static const char bytes[4096] = "COSYCOSYCOSYCOSY";
	struct cosyd_request request = {.version = COSYD_VERSION, .op = 77};
	struct cosyd_reply reply;
	int client, fds[4] = {0, 0, 0, 0};
	unsigned int files;

	daemon_start(cosyd, NULL);
	files = front_files();
	/* Send messages of any length but the right one. */
	for (size_t len = 1; len <= sizeof(bytes); len = len * 2 + 1) {
		client = client_connect();
		client_send(client, bytes, len, NULL, 0);
		CHECK(!client_answer(client, &reply, NULL));
		close(client);
	}
	/* Send another version. */
	client = client_connect();
	request.version++;
	client_send(client, &request, sizeof(request), NULL, 0);
	CHECK(!client_answer(client, &reply, NULL));
	close(client);
	/* Send requests that are well formed and mean nothing. */
	client = client_connect();
	request.version--;
	client_send(client, &request, sizeof(request), NULL, 0);
	CHECK(client_answer(client, &reply, NULL) && reply.error == -EINVAL);
	CHECK(client_ask(client, COSYD_TAKE, 0, -1));
	CHECK(client_answer(client, &reply, NULL) && reply.error == -EINVAL);
	CHECK(client_ask(client, COSYD_DROP, 0, -1));
	CHECK(client_answer(client, &reply, NULL) && reply.error == -EINVAL);
	CHECK(client_ask(client, COSYD_DROP, UINT32_MAX, 0));
	CHECK(client_answer(client, &reply, NULL) && reply.error == -EINVAL);
	close(client);
	/* Send more descriptors than one; the daemon keeps none. */
	request.op = COSYD_TAKE;
	for (size_t count = 2; count <= 4; count++) {
		client = client_connect();
		client_send(client, &request, sizeof(request), fds, count);
		CHECK(!client_answer(client, &reply, NULL));
		close(client);
	}
	wait_until(front_has_files, &files);
	check_served();
}

/* Returns a TCP socket that lingers in close, with bytes nobody takes. */
static int lingering_socket(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct linger linger = {.l_onoff = 1, .l_linger = 3600};
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(address);
	static char bytes[65536];

	CHECK(!bind(listener, (struct sockaddr *)&address, sizeof(address)) &&
	      !listen(listener, 1) && !getsockname(listener, (struct sockaddr *)&address, &len) &&
	      !connect(one, (struct sockaddr *)&address, sizeof(address)));
	CHECK(!setsockopt(one, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
	while (send(one, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	return one; /* `listener` stays open, and takes nothing */
}

/* Sends them while the front is stopped, so that this process is not the last to close them. */
static void send_lingering(int client, size_t count)
{
	struct cosyd_request request = {.version = COSYD_VERSION, .op = COSYD_TAKE};
	int fds[2] = {lingering_socket(), lingering_socket()};

	CHECK(client_send(client, &request, sizeof(request), fds, count));
	/* Turn lingering off for a socket that was not sent, which this process closes. */
	if (count < 2)
		setsockopt(fds[1], SOL_SOCKET, SO_LINGER, &(struct linger){},
			   sizeof(struct linger));
	close(fds[0]);
	close(fds[1]);
}

static int served_client;

/* True if a connection is not refused: those that were closed are gone a little later. */
static bool served(const void *unused)
{
	struct cosyd_reply reply;

	(void)unused;
	served_client = client_connect();
	if (client_ask(served_client, COSYD_SYNC, 0, -1) &&
	    client_answer(served_client, &reply, NULL))
		return true;
	close(served_client);
	return false;
}

/*
 * Sends sockets as the request's descriptor, as one too many, and in the queues of refused
 * connections.
 */
static void test_lingering(void)
{
	static const char *const few[] = {"--user-connections", "4", NULL};
	int idle[2], refused[5];
	struct cosyd_reply reply;

	daemon_start(cosyd, few);
	CHECK(!kill(daemon_front(), SIGSTOP));
	send_lingering(client_connect(), 1);
	send_lingering(client_connect(), 2);
	CHECK(!kill(daemon_front(), SIGCONT));
	check_served();
	for (int i = 0; i < 2; i++) {
		wait_until(served, NULL);
		idle[i] = served_client;
	}
	CHECK(!kill(daemon_front(), SIGSTOP));
	for (int i = 0; i < 5; i++) {
		refused[i] = client_connect();
		send_lingering(refused[i], 1);
	}
	CHECK(!kill(daemon_front(), SIGCONT));
	for (int i = 0; i < 5; i++)
		CHECK(!client_answer(refused[i], &reply, NULL));
	close(idle[0]);
	close(idle[1]);
	wait_until(served, NULL);
}

/* Asks and asks, and takes no answer. */
static void test_deaf(void)
{
	int client;

	daemon_start(cosyd, NULL);
	client = client_connect();
	while (client_ask(client, COSYD_HELLO, 0, -1))
		;
	check_served();
}

static void test_limits(void)
{
	static const char *const few[] = {"--user-files", "3", "--user-connections", "2", NULL};
	struct cosyd_reply reply;
	struct taken taken;
	int client, none, fd;

	daemon_start(cosyd, few);
	taken = take_new();
	for (int i = 1; i < 3; i++) {
		fd = open(file_make(), O_RDONLY);
		CHECK(!client_take(taken.client, fd).error);
	}
	CHECK(client_take(taken.client, taken.fd).error == -EMFILE);
	client = client_connect();
	CHECK(client_take(client, taken.fd).error == -EMFILE);
	none = client_connect();
	CHECK(!client_ask(none, COSYD_HELLO, 0, -1) || !client_answer(none, &reply, NULL));
	/* A lease that is dropped can be taken again, without harm to the others. */
	client_ask(taken.client, COSYD_DROP, taken.reply.slot, -1);
	client_ask(taken.client, COSYD_SYNC, 0, -1);
	CHECK(client_answer(taken.client, &reply, NULL));
	CHECK(!client_take(client, taken.fd).error);
	if (geteuid()) {
		printf("other users are left out: not run by root\n");
		return;
	}
	/* Another user has limits of its own. */
	CHECK(!setegid(65534) && !seteuid(65534));
	none = client_connect();
	CHECK(!client_take(none, taken.fd).error);
	CHECK(!seteuid(0) && !setegid(0));
}

/* Connects as a user, and returns whether it is served; the connection stays open. */
static bool served_as(uid_t user)
{
	struct cosyd_reply reply;
	int client;

	CHECK(!seteuid(user));
	client = client_connect();
	CHECK(!seteuid(0));
	return client >= 0 && client_ask(client, COSYD_HELLO, 0, -1) &&
	       client_answer(client, &reply, NULL);
}

/*
 * A user's subordinate IDs are one account, also in two ranges; other users' are others.  Only in a
 * guest: it writes /etc/subuid.
 */
static void test_subordinate(void)
{
	static const char *const few[] = {"--user-connections", "3", NULL};
	static const char ranges[] = "no range\none:100000:65536\ntwo:200000:65536\n"
				     "one:300000:10\nthree:400000:1:1\n";
	int file;

	CHECK(!geteuid() && !access("/vm/config", F_OK));
	file = open("/etc/subuid", O_CREAT | O_TRUNC | O_WRONLY, 0644);
	CHECK(file >= 0 && write(file, ranges, sizeof(ranges) - 1) == sizeof(ranges) - 1);
	close(file);
	daemon_start(cosyd, few);
	CHECK(served_as(100000) && served_as(100001) && served_as(300009));
	CHECK(!served_as(165535) && !served_as(100000));
	/* Those of another user; IDs beside the ranges; one in a line that is no range. */
	CHECK(served_as(200000));
	for (int i = 0; i < 2; i++)
		CHECK(served_as(165536) && served_as(300010) && served_as(400000));
	CHECK(!unlink("/etc/subuid"));
	CHECK(served_as(165535));
}

/* True if each of them is in open(2). */
static bool all_open(const void *context)
{
	for (const pid_t *writer = context; *writer; writer++) {
		char name[64];
		long call = -1;
		FILE *file;

		snprintf(name, sizeof(name), "/proc/%d/syscall", *writer);
		file = fopen(name, "r");
		CHECK(file);
		if (fscanf(file, "%ld", &call) != 1)
			call = -1;
		fclose(file);
		if (call != SYS_openat)
			return false;
	}
	return true;
}

/* Breaks more leases than signals can be queued. */
static void test_many(void)
{
	enum { MANY = 100 };
	static struct taken taken[MANY];
	pid_t writers[MANY + 1] = {0};
	int status;

	daemon_start(cosyd, NULL);
	taken[0] = take_new();
	for (int i = 1; i < MANY; i++) {
		taken[i] = taken[0];
		strcpy(taken[i].path, file_make());
		taken[i].fd = open(taken[i].path, O_RDONLY);
		taken[i].reply = client_take(taken[i].client, taken[i].fd);
		CHECK(!taken[i].reply.error);
		close(taken[i].fd);
	}
	CHECK(!prlimit(daemon_keeper(), RLIMIT_SIGPENDING, &(struct rlimit){2, 2}, NULL));
	/* All writers wait while the keeper is stopped. */
	CHECK(!kill(daemon_keeper(), SIGSTOP));
	for (int i = 0; i < MANY; i++) {
		writers[i] = fork();
		if (!writers[i]) {
			write_file(taken[i].path);
			_exit(0);
		}
	}
	wait_until(all_open, writers);
	CHECK(!kill(daemon_keeper(), SIGCONT));
	for (int i = 0; i < MANY; i++) {
		CHECK(waitpid(writers[i], &status, 0) == writers[i] && !status);
		CHECK(!valid(&taken[i]));
	}
}

/* Ends one of the processes, in every way: no word counts when the first writer has been let in. */
static void test_end(void)
{
	static const int signals[] = {SIGKILL, SIGTERM, SIGSEGV, SIGSTOP};
	static const char *const soon[] = {"--deadline", "500", NULL};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		pid_t child = fork();
		int status;

		if (!child) {
			struct taken taken;

			daemon_start(cosyd, soon);
			taken = take_new();
			kill(daemon_keeper(), signals[i]);
			write_file(taken.path);
			CHECK(!valid(&taken));
			if (signals[i] == SIGKILL)
				CHECK(taken.memory->keeper & FUTEX_OWNER_DIED);
			exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child && !status);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} tests[] = {
		{"memory", test_memory},
		{"shared", test_shared},
		{"exit", test_exit},
		{"hold-off", test_hold_off},
		{"nonblocking", test_nonblocking},
		{"descriptors", test_descriptors},
		{"owner", test_owner},
		{"garbage", test_garbage},
		{"lingering", test_lingering},
		{"deaf", test_deaf},
		{"limits", test_limits},
		{"subordinate", test_subordinate},
		{"many", test_many},
		{"end", test_end},
	};

	if (argc != 3)
		return 2;
	cosyd = argv[2];
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		if (strcmp(tests[i].name, argv[1]))
			continue;
		tests[i].run();
		return 0;
	}
	return 2;
}
