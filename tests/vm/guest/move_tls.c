// SPDX-License-Identifier: MIT
/*
 * A transfer from a TLS socket of the kernel's into memory that cannot be written makes one read,
 * fails as that does, and leaves the connection as it does. A second read could find a connection
 * that TLS ended because of the first.
 */
#include "move.h"
#include <linux/tls.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#ifndef SOL_TLS
#define SOL_TLS 282
#endif

enum { RECORDS = 3, RECORD = 1000, REPLIES = 6 };

/* One record is received into `bad`, then the rest in pieces: what each of these calls returns. */
struct replies {
	long result[REPLIES];
	long reads; /* that were made, the kernel says, for the first one */
	int error[REPLIES];
};

/* Returns a connection with some records to be received. */
static struct pair tls_new(void)
{
	const struct tls12_crypto_info_aes_gcm_128 info = {
		.info = { .version = TLS_1_2_VERSION, .cipher_type = TLS_CIPHER_AES_GCM_128 }
	};
	struct pair c = tcp_new();
	char text[RECORD];

	if (setsockopt(c.from, SOL_TCP, TCP_ULP, "tls", 4) ||
	    setsockopt(c.to, SOL_TCP, TCP_ULP, "tls", 4) ||
	    setsockopt(c.to, SOL_TLS, TLS_TX, &info, sizeof(info)) ||
	    setsockopt(c.from, SOL_TLS, TLS_RX, &info, sizeof(info)))
		SKIP("no TLS in this kernel, or its modules are not loaded: %s", strerror(errno));
	for (int i = 0; i < RECORDS; i++) {
		memset(text, 'a' + i, sizeof(text));
		MUST(send(c.to, text, sizeof(text), 0) == sizeof(text));
	}
	shutdown(c.to, SHUT_WR);
	MUST(poll(&(struct pollfd){ .fd = c.from, .events = POLLIN }, 1, -1) == 1);
	return c;
}

/* Returns how many reads this process has made; asking makes some, always as many. */
static long reads_made(void)
{
	FILE *file = fopen("/proc/self/io", "r");
	char line[100];
	long ret = -1;

	MUST(file);
	while (fgets(line, sizeof(line), file))
		(void)sscanf(line, "syscr: %ld", &ret);
	fclose(file);
	MUST(ret >= 0);
	return ret;
}

static long receive_plainly(int fd, void *bad, int *error)
{
	long ret = read(fd, bad, RECORD);

	*error = errno;
	return ret;
}

static long receive_in_region(int fd, void *bad, int *error)
{
	long ret;
	int code;

	COSY_START;
	errno = 0;
	ret = cosy_transfer(fd, bad, RECORD, 0);
	code = errno;
	COSY_END;
	*error = code;
	return ret;
}

/* Receives by one of the two, then the rest by plain calls. */
static struct replies receive(long (*first)(int fd, void *bad, int *error), void *bad)
{
	struct pair c = tls_new();
	struct replies ret;
	char text[RECORD];

	ret.reads = reads_made();
	ret.result[0] = first(c.from, bad, &ret.error[0]);
	ret.reads = reads_made() - ret.reads;
	for (int i = 1; i < REPLIES; i++) {
		ret.result[i] = recv(c.from, text, sizeof(text), MSG_DONTWAIT);
		ret.error[i] = ret.result[i] < 0 ? errno : text[0];
	}
	pair_close(c);
	return ret;
}

static void compare(const char *what, void *bad)
{
	const struct replies plain = receive(receive_plainly, bad);
	const struct cosy_stats before = counts();
	const struct replies region = receive(receive_in_region, bad);

	CHECK_KERNEL(before, 1, 0);
	printf("%s: %ld (%s), then %ld (%d)\n", what, plain.result[0], strerror(plain.error[0]),
	       plain.result[1], plain.error[1]);
	CHECK(plain.reads == region.reads, "%s: %ld reads, not %ld", what, region.reads,
	      plain.reads);
	for (int i = 0; i < REPLIES; i++)
		CHECK(plain.result[i] == region.result[i] && plain.error[i] == region.error[i],
		      "%s, receive %d: %ld (%d), not %ld (%d)", what, i, region.result[i],
		      region.error[i], plain.result[i], plain.error[i]);
}

int main(void)
{
	char *unwritable = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(unwritable != MAP_FAILED);
	/* Loading the region may read. */
	(void)receive(receive_in_region, (char *)8);
	compare("no memory", (char *)8);
	compare("memory that is only read", unwritable);
	compare("another's memory", (char *)(1ul << 47));
	return check_end();
}
