/* SPDX-License-Identifier: MIT */
/*
 * Has the kernel's audit record the calls of a process, by a rule that comes and goes.  Without a
 * rule regions run in the kernel, though the process has an audit context; with one each call is in
 * the records once, as it is natively.
 */
#include "check.h"
#include <linux/audit.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum { WANTED = 50, OTHERS = 1000, LAST = 7777, BACKLOG = 4096 };

static int audit;

/* --- Asking the kernel --------------------------------------------------------------------- */

struct request {
	struct nlmsghdr head;
	_Alignas(8) char body[sizeof(struct audit_rule_data) + sizeof(struct audit_status)];
};

/* Sends a request and takes its acknowledgement.  Returns 0 or a negative errno. */
static int asked(uint16_t type, const void *body, size_t size)
{
	struct request request = { .head = { .nlmsg_len = (uint32_t)NLMSG_LENGTH(size),
					     .nlmsg_type = type,
					     .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK } };
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char rest[512];
	} answer;
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);

	if (sock < 0)
		return -errno;
	memcpy(NLMSG_DATA(&request.head), body, size);
	MUST(send(sock, &request, request.head.nlmsg_len, 0) == (ssize_t)request.head.nlmsg_len);
	do
		MUST(recv(sock, &answer, sizeof(answer), 0) > 0);
	while (answer.head.nlmsg_type != NLMSG_ERROR);
	close(sock);
	return answer.error.error;
}

static int audit_switch(bool on)
{
	const struct audit_status status = {
		.mask = AUDIT_STATUS_ENABLED | AUDIT_STATUS_BACKLOG_LIMIT,
		.enabled = on,
		.backlog_limit = BACKLOG,
	};

	return asked(AUDIT_SET, &status, sizeof(status));
}

/* Adds or deletes the rule that this process's lseek is recorded. */
static int rule(uint16_t type, pid_t pid)
{
	struct audit_rule_data data = { .flags = AUDIT_FILTER_EXIT,
					.action = AUDIT_ALWAYS,
					.field_count = 1,
					.fields = { AUDIT_PID },
					.values = { (uint32_t)pid },
					.fieldflags = { AUDIT_EQUAL } };

	data.mask[AUDIT_WORD(SYS_lseek)] = AUDIT_BIT(SYS_lseek);
	return asked(type, &data, sizeof(data));
}

/* Has no process that begins later get an audit context, as none has where audit was never on. */
static int none_later(void)
{
	struct audit_rule_data data = { .flags = AUDIT_FILTER_TASK, .action = AUDIT_NEVER };

	memset(data.mask, 0xff, sizeof(data.mask));
	return asked(AUDIT_ADD_RULE, &data, sizeof(data));
}

/* --- What is recorded ------------------------------------------------------------------------- */

/* Reads records up to that of lseek(-1, LAST).  Counts those of each offset below WANTED. */
static void records_count(int *seen)
{
	static char record[8192 + NLMSG_HDRLEN];
	const struct nlmsghdr *head = (void *)record;

	for (;;) {
		ssize_t got = recv(audit, record, sizeof(record) - 1, 0);
		unsigned long number, offset;
		const char *call, *second;

		MUST(got > 0);
		record[got] = 0;
		if (head->nlmsg_type != AUDIT_SYSCALL)
			continue;
		call = strstr(record + NLMSG_HDRLEN, " syscall=");
		second = strstr(record + NLMSG_HDRLEN, " a1=");
		if (!call || !second || sscanf(call, " syscall=%lu", &number) != 1 ||
		    sscanf(second, " a1=%lx", &offset) != 1 || number != SYS_lseek)
			continue;
		if (offset == LAST)
			return;
		if (offset < WANTED)
			seen[offset]++;
	}
}

/* --- Who is recorded ---------------------------------------------------------------------------- */

/* Makes `count` calls that fail, by a region.  Returns how many gave something else. */
static long calls_make(long count)
{
	long wrong = 0;

	COSY_START;
	for (long i = 0; i < count; i++)
		wrong += lseek(-1, i, SEEK_SET) != -1 || errno != EBADF;
	COSY_END;
	return wrong;
}

static void turn(int from, int to)
{
	char byte = 'x';

	MUST(write(to, &byte, 1) == 1 && read(from, &byte, 1) == 1);
}

static void recorded(int from, int to)
{
	struct cosy_stats then = counts();

	CHECK(!calls_make(OTHERS), "wrong results without a rule");
	CHECK_KERNEL(then, 1, OTHERS);
	turn(from, to);
	CHECK(!calls_make(WANTED), "wrong results with a rule");
	(void)lseek(-1, LAST, SEEK_SET);
	turn(from, to);
	then = counts();
	CHECK(!calls_make(OTHERS), "wrong results after the rule");
	/* It is some calls before libcosy tries again. */
	CHECK_KERNEL(then, 1, OTHERS / 2);
	_exit(check_end());
}

int main(void)
{
	struct sockaddr_nl all = { .nl_family = AF_NETLINK,
				   .nl_groups = 1 << (AUDIT_NLGRP_READLOG - 1) };
	int seen[WANTED] = { 0 }, down[2], up[2], status, wrong = 0, error;
	char byte;
	pid_t pid;

	if (geteuid())
		SKIP("only root has calls recorded");
	error = audit_switch(true);
	if (error)
		SKIP("no audit: %s", strerror(-error));
	audit = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);
	MUST(audit >= 0 && !bind(audit, (struct sockaddr *)&all, sizeof(all)));
	MUST(!setsockopt(audit, SOL_SOCKET, SO_RCVBUFFORCE, &(int){ 8 << 20 }, sizeof(int)));
	MUST(!pipe(down) && !pipe(up));
	/* A process has an audit context from its fork on. */
	pid = child_start();
	if (!pid)
		recorded(down[0], up[1]);
	MUST(read(up[0], &byte, 1) == 1 && !rule(AUDIT_ADD_RULE, pid));
	MUST(write(down[1], &byte, 1) == 1 && read(up[0], &byte, 1) == 1);
	records_count(seen);
	MUST(!rule(AUDIT_DEL_RULE, pid) && write(down[1], &byte, 1) == 1);
	MUST(waitpid(pid, &status, 0) == pid);
	MUST(!none_later() && !audit_switch(false));
	CHECK_CHILD(status);
	for (int i = 0; i < WANTED; i++)
		wrong += seen[i] != 1;
	CHECK(!wrong, "%d of %d calls are not recorded once", wrong, WANTED);
	return check_end();
}
