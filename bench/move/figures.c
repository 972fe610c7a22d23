// SPDX-License-Identifier: MIT
/* figures.c - Figures 5 to 9 of UVM (Cranor and Parulkar, USENIX '99), measured again. */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "move.h"

#define TURNS	 8
#define MESSAGES 24 /* in a run of two or three processes */

static const size_t sizes[] = {4, 16, 64, 256, 1024, 4096};
#define SIZES (sizeof(sizes) / sizeof(*sizes))

static char *lender, *taker, *from, *to;

static void head(const char *title)
{
	printf("\n%s\n%-44s", title, "KB");
	for (size_t i = 0; i < SIZES; i++)
		printf(" %7zu", sizes[i]);
	printf("\n");
}

static void print(long cost)
{
	if (cost < 0)
		printf(" %7s", "-");
	else
		printf(" %7ld", cost);
	fflush(stdout);
}

/* --- Figures 5 and 6: one end ----------------------------------------------------------------- */

struct send_row {
	const char *name;
	void (*new)(int *ends);
	void (*send)(int fd, const char *memory, size_t bytes);
	char **memory;
	bool waits; /* nothing is transmitted before the peer reads */
};

static const struct send_row send_rows[] = {
	{"AF_UNIX: write", unix_new, write_all, &from, false},
	{"AF_UNIX: loan", unix_new, loan_all, &lender, false},
	{"TCP: write", tcp_new, write_all, &from, false},
	{"TCP: loan", tcp_new, loan_all, &lender, false},
	{"TCP, window closed: write", tcp_narrow_new, write_all, &from, true},
	{"TCP, window closed: loan", tcp_narrow_new, loan_all, &lender, true},
	{"pipe: write", pipe_new, write_all, &from, false},
	{"pipe: loan", pipe_new, loan_all, &lender, false},
};

/* Counts sending alone, of a buffer that is sent again and again. */
static long send_cost(const struct send_row *row, const int *ends, size_t bytes)
{
	char *memory = *row->memory;
	long best = -1;

	for (uint64_t turn = 0; turn < TURNS; turn++) {
		long start, cost;

		if (turn < 2)
			fill(memory, bytes, turn);
		if (row->waits)
			write_all(ends[1], to, NARROW);
		start = now();
		row->send(ends[1], memory, bytes);
		cost = now() - start;
		if (row->waits)
			read_all(ends[0], to, NARROW);
		read_all(ends[0], to, bytes);
		compare("figure 5", to, bytes, turn ? 1 : 0);
		if (best < 0 || cost < best)
			best = cost;
	}
	return best / (long)(bytes / PAGE);
}

static void figure5(void)
{
	head("Figure 5: send the same buffer again; sending alone");
	for (size_t r = 0; r < sizeof(send_rows) / sizeof(*send_rows); r++) {
		printf("%-44s", send_rows[r].name);
		for (size_t i = 0; i < SIZES; i++) {
			int ends[2];

			send_rows[r].new(ends);
			print(sizes[i] <= 1024 ? send_cost(&send_rows[r], ends, sizes[i] << 10)
					       : -1);
			close(ends[0]);
			close(ends[1]);
		}
		printf("\n");
	}
}

static void plain_read(int fd, char *memory, size_t bytes)
{
	read_all(fd, memory, bytes);
}

static void transfer(int fd, char *memory, size_t bytes)
{
	transfer_all(fd, memory, bytes, COSY_POPULATE);
}

struct receive_row {
	const char *name;
	void (*send)(int fd, const char *memory, size_t bytes);
	char **from;
	void (*receive)(int fd, char *memory, size_t bytes);
	char **to;
	bool rewrites; /* the sender, before each message */
	bool flushes;  /* the receiver */
};

/* Pages that are received are present, and those that were there before are dropped. */
static const struct receive_row receive_rows[] = {
	{"written: read", write_all, &from, plain_read, &to, true, false},
	{"written: transfer, old pages freed", write_all, &from, transfer, &taker, true, false},
	{"written: transfer, flushed before", write_all, &from, transfer, &taker, true, true},
	{"lent: read", loan_all, &lender, plain_read, &to, true, false},
	{"lent, rewritten: transfer, old pages freed", loan_all, &lender, transfer, &taker, true,
	 false},
	{"lent again: transfer", loan_all, &lender, transfer, &taker, false, false},
};

/* Counts receiving alone.  The first turn does not find what the others do, and is not counted. */
static long receive_cost(const struct receive_row *row, const int *ends, size_t bytes)
{
	uint64_t sent = 0;
	long best = -1;

	for (uint64_t turn = 0; turn <= TURNS; turn++) {
		long start, cost;

		if (!turn || row->rewrites) {
			sent = turn;
			fill(*row->from, bytes, sent);
		}
		row->send(ends[1], *row->from, bytes);
		if (row->flushes)
			TRY(cosy_flush(*row->to, bytes));
		start = now();
		row->receive(ends[0], *row->to, bytes);
		cost = now() - start;
		compare("figure 6", *row->to, bytes, sent);
		if (turn && (best < 0 || cost < best))
			best = cost;
	}
	return best / (long)(bytes / PAGE);
}

static void figure6(void)
{
	head("Figure 6: receive from a pipe; receiving alone");
	for (size_t r = 0; r < sizeof(receive_rows) / sizeof(*receive_rows); r++) {
		printf("%-44s", receive_rows[r].name);
		for (size_t i = 0; i < SIZES; i++) {
			int ends[2];

			pipe_new(ends);
			print(receive_cost(&receive_rows[r], ends, sizes[i] << 10));
			close(ends[0]);
			close(ends[1]);
		}
		printf("\n");
	}
}

/* --- Figures 7 to 9: processes ---------------------------------------------------------------- */

/* Moves messages between processes, of which the calling one is the first. */
struct run {
	size_t bytes;
	bool copies[2]; /* of the sender; of the receiver */
	bool touches;
	int data[2], back[2], next[2];
	bool by_ports;
	int ports[2][2]; /* of the child; of the parent */
};

static void child_end(pid_t pid)
{
	int status;

	TRY(waitpid(pid, &status, 0));
	if (status) {
		printf("FAIL a child: %#x\n", (unsigned int)status);
		_exit(1);
	}
}

static void look_at(const struct run *run, const char *memory, uint64_t message)
{
	if (message == MESSAGES)
		compare("a figure", memory, run->bytes, message);
	else if (run->touches)
		look(memory, run->bytes);
}

/* Figure 7: a pipeline of two.  The last message is compared whole, and not counted. */
static long pipeline(struct run *run)
{
	char *in = run->copies[1] ? to : taker, *out = run->copies[0] ? from : lender, c = 0;
	long start, cost;
	pid_t pid;

	pipe_new(run->data);
	TRY(pipe(run->back));
	pid = (pid_t)TRY(fork());
	if (!pid) {
		for (uint64_t message = 0; message <= MESSAGES; message++) {
			if (run->copies[1])
				read_all(run->data[0], in, run->bytes);
			else
				transfer_all(run->data[0], in, run->bytes,
					     run->touches ? COSY_POPULATE : 0);
			look_at(run, in, message);
			if (!run->copies[1])
				cosy_flush(in, run->bytes);
			if (message >= MESSAGES - 1 || !message)
				write_all(run->back[1], &c, 1);
		}
		_exit(0);
	}
	fill(out, run->bytes, 1);
	(run->copies[0] ? write_all : loan_all)(run->data[1], out, run->bytes);
	read_all(run->back[0], &c, 1);
	start = now();
	for (uint64_t message = 1; message < MESSAGES; message++) {
		if (run->touches)
			touch(out, run->bytes);
		(run->copies[0] ? write_all : loan_all)(run->data[1], out, run->bytes);
	}
	read_all(run->back[0], &c, 1);
	cost = now() - start;
	fill(out, run->bytes, MESSAGES);
	(run->copies[0] ? write_all : loan_all)(run->data[1], out, run->bytes);
	read_all(run->back[0], &c, 1);
	child_end(pid);
	for (int i = 0; i < 2; i++) {
		close(run->data[i]);
		close(run->back[i]);
	}
	return cost / (long)((MESSAGES - 1) * (run->bytes / PAGE));
}

static void parcel_send(int sock, char *memory, size_t bytes)
{
	int fd = (int)TRY(cosy_export(memory, bytes, COSY_DONATE_ZERO));

	fd_send(sock, fd);
	close(fd);
}

static void parcel_receive(int sock, char *memory, size_t bytes, bool touches)
{
	int fd = fd_receive(sock);

	TRY(cosy_import(fd, memory, bytes, touches ? COSY_WILL_WRITE : 0));
	close(fd);
}

static void message_send(const struct run *run, int sock, char *memory)
{
	if (run->copies[0])
		write_all(sock, memory, run->bytes);
	else
		parcel_send(sock, memory, run->bytes);
}

static void message_receive(const struct run *run, int sock, char *memory)
{
	if (run->copies[0])
		read_all(sock, memory, run->bytes);
	else
		parcel_receive(sock, memory, run->bytes, run->touches);
}

/* Takes back what touch did. */
static void untouch(char *memory, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += PAGE)
		--*(uint64_t *)(memory + at);
}

/* Sends to the other of two processes that have the ends data[side], and ports[side] to take from. */
static void side_send(const struct run *run, int side, char *memory)
{
	if (run->by_ports)
		TRY(cosy_pass(run->ports[!side][1], 0, memory, run->bytes, COSY_DONATE_ZERO));
	else
		message_send(run, run->data[side], memory);
}

static void side_receive(const struct run *run, int side, char *memory)
{
	size_t at;

	if (run->by_ports)
		TRY(cosy_take(run->ports[side][0], memory, run->bytes, &at,
			      run->touches ? COSY_WILL_WRITE : 0));
	else
		message_receive(run, run->data[side], memory);
}

/* Figure 8: there and back, by a socket, parcels or ports; per page of each way. */
static long passing(struct run *run)
{
	char *memory = run->copies[0] ? from : lender;
	long start = 0, cost;
	pid_t pid;

	unix_new(run->data);
	pid = (pid_t)TRY(fork());
	if (!pid) {
		for (uint64_t message = 0; message <= MESSAGES; message++) {
			side_receive(run, 0, memory);
			if (run->touches)
				touch(memory, run->bytes);
			side_send(run, 0, memory);
		}
		_exit(0);
	}
	fill(memory, run->bytes, MESSAGES);
	for (uint64_t message = 0; message < MESSAGES; message++) {
		if (message == 1)
			start = now();
		if (run->touches)
			touch(memory, run->bytes);
		side_send(run, 1, memory);
		side_receive(run, 1, memory);
	}
	cost = now() - start;
	fill(memory, run->bytes, 1);
	side_send(run, 1, memory);
	side_receive(run, 1, memory);
	if (run->touches)
		untouch(memory, run->bytes);
	compare("figure 8", memory, run->bytes, 1);
	child_end(pid);
	close(run->data[0]);
	close(run->data[1]);
	return cost / (long)(2 * (MESSAGES - 1) * (run->bytes / PAGE));
}

static long passing_by_ports(struct run *run)
{
	long cost;

	run->by_ports = true;
	for (int i = 0; i < 2; i++)
		TRY(cosy_port(run->bytes, run->ports[i]));
	cost = passing(run);
	for (int i = 0; i < 4; i++)
		close(run->ports[i / 2][i % 2]);
	return cost;
}

/*
 * Sends by a socket of TCP that throws away what comes, except for the last message: that has gone
 * through all stages, and is compared.
 */
static void sink_send(const struct run *run, const int *sink, const char *memory, bool is_last)
{
	(run->copies[1] ? write_all : loan_all)(sink[1], memory, run->bytes);
	if (is_last) {
		read_all(sink[0], to, run->bytes);
		untouch(to, run->bytes);
		compare("figure 9", to, run->bytes, MESSAGES);
		return;
	}
	for (size_t done = 0; done < run->bytes;)
		done += (size_t)TRY(recv(sink[0], NULL, run->bytes - done, MSG_TRUNC) ?: -1);
}

/* Changes messages and passes them on; the last stage throws them away and gives the pages back. */
static void stage(const struct run *run, int in, int out, bool is_last)
{
	char *memory = run->copies[0] ? from : lender, c = 0;
	int sink[2];

	tcp_new(sink);
	for (uint64_t message = 0; message <= MESSAGES; message++) {
		message_receive(run, in, memory);
		if (!is_last)
			touch(memory, run->bytes);
		else
			sink_send(run, sink, memory, message == MESSAGES);
		if (is_last && run->copies[0])
			write_all(out, &c, 1);
		else
			message_send(run, out, memory);
	}
	_exit(0);
}

/* Sends a message to the second stage, and waits for the last one's answer. */
static void first_stage(const struct run *run, char *memory)
{
	char c;

	message_send(run, run->data[1], memory);
	if (run->copies[0])
		read_all(run->back[0], &c, 1);
	else
		message_receive(run, run->back[0], memory);
}

/*
 * Figure 9: the first of three fills a buffer, the second changes it, the third sends it away.  The
 * last message is not counted.
 */
static long three(struct run *run)
{
	char *memory = run->copies[0] ? from : lender;
	long start = 0, cost;
	pid_t second, third;

	unix_new(run->data);
	unix_new(run->next);
	unix_new(run->back);
	second = (pid_t)TRY(fork());
	if (!second)
		stage(run, run->data[0], run->next[1], false);
	third = (pid_t)TRY(fork());
	if (!third)
		stage(run, run->next[0], run->back[1], true);
	for (uint64_t message = 0; message < MESSAGES; message++) {
		if (message == 1)
			start = now();
		touch(memory, run->bytes);
		first_stage(run, memory);
	}
	cost = now() - start;
	fill(memory, run->bytes, MESSAGES);
	first_stage(run, memory);
	child_end(second);
	child_end(third);
	for (int i = 0; i < 2; i++) {
		close(run->data[i]);
		close(run->next[i]);
		close(run->back[i]);
	}
	return cost / (long)((MESSAGES - 1) * (run->bytes / PAGE));
}

/* --- Rows ------------------------------------------------------------------------------------- */

static void run_row(const char *name, long (*cost)(struct run *), bool copies_out, bool copies_in,
		    bool touches, size_t max)
{
	printf("%-44s", name);
	for (size_t i = 0; i < SIZES; i++) {
		struct run run = {.bytes = sizes[i] << 10,
				  .copies = {copies_out, copies_in},
				  .touches = touches};

		print(run.bytes <= max ? cost(&run) : -1);
		cosy_flush(lender, MAX_BYTES);
		cosy_flush(taker, MAX_BYTES);
	}
	printf("\n");
}

void figures_measure(void)
{
	lender = cosy_move_alloc(MAX_BYTES, 0);
	taker = cosy_move_alloc(MAX_BYTES, 0);
	from = memory_new();
	to = memory_new();
	figure5();
	figure6();
	head("Figure 7: a pipeline of two processes by a pipe");
	run_row("copied at both ends, untouched", pipeline, true, true, false, MAX_BYTES);
	run_row("copied in, transferred, untouched", pipeline, true, false, false, MAX_BYTES);
	run_row("lent, copied out, untouched", pipeline, false, true, false, MAX_BYTES);
	run_row("lent and transferred, untouched", pipeline, false, false, false, MAX_BYTES);
	run_row("copied at both ends, both touch", pipeline, true, true, true, MAX_BYTES);
	run_row("lent and transferred, both touch", pipeline, false, false, true, MAX_BYTES);
	head("Figure 8: there and back between two processes; each way");
	run_row("AF_UNIX, untouched", passing, true, true, false, MAX_BYTES);
	run_row("parcels, untouched", passing, false, false, false, MAX_BYTES);
	run_row("ports, untouched", passing_by_ports, false, false, false, MAX_BYTES);
	run_row("AF_UNIX, touched", passing, true, true, true, MAX_BYTES);
	run_row("parcels, touched", passing, false, false, true, MAX_BYTES);
	run_row("ports, touched", passing_by_ports, false, false, true, MAX_BYTES);
	head("Figure 9: three processes; the last sends by TCP");
	run_row("AF_UNIX, write", three, true, true, true, 1 << 20);
	run_row("parcels, write", three, false, true, true, 1 << 20);
	run_row("parcels, loan", three, false, false, true, 1 << 20);
}
