/* SPDX-License-Identifier: MIT */
/*
 * same.h - makes random programs of system calls, runs them plainly and as regions, and tells both
 * in words that are equal if nothing distinguishes the two.
 *
 *	generate.c	a batch of steps from a seed
 *	arguments.c	what their calls are given
 *	region.c	makes them: as plain calls, or inside a region
 *	built.c		or as a compound of its own, with operations
 *	scans.c		scan_dir by plain calls
 *	walks.c		scan_tree by plain calls
 *	polls.c		epoll_read by plain calls
 *	other.c		what another process and another thread do meanwhile
 *	watch.c		inotify, fanotify and its permissions
 *	tell.c		what came of it, without what differs from run to run
 *	round.c		a fresh tree, some batches, the transcript
 *	main.c		rounds, and the comparison
 */
#ifndef SAME_H
#define SAME_H

#include "../../scale.h"
#include "../guest/check.h"

enum {
	SLOTS = 20,		/* descriptors that steps know */
	STEPS = 48,		/* in a batch, at most */
	BATCHES = 16,		/* in a round */
	CHANGES = 8,		/* by others, in a batch, at most */
	OUT = 1024,		/* bytes for what a step is told, but for what it reads */
	RECEIVED = 16384,	/* bytes that are lent at once, at most */
	WALKS = 3,		/* in a batch, at most */
	WALK_STREAM = 32768,	/* bytes that a walk tells, at most */
	WALK_CALLS = 32,	/* that it makes, at most */
	FD_FIRST = 48,		/* lower numbers are the test's own */
	FD_LAST = 150,		/* and higher ones libcosy's */
	FILE_LIMIT = 192 << 10, /* RLIMIT_FSIZE */
};

enum step_op {
#define STEP(call, arguments, weight) STEP_##call,
#include "steps.def"
	STEP_SYSCALLS,
	STEP_LAST_SYSCALL = STEP_SYSCALLS - 1,
#define STEP(...)
#define OPERATION(name, arguments, weight) STEP_##name,
#include "steps.def"
	STEP_CALLS,
	/* Steps that are not calls of the program under test: */
	STEP_other = STEP_CALLS, /* somebody else makes change arg[0] */
	STEP_tick,		 /* the clock of files moves on */
	STEP_OPS
};

/* All that the region knows of a step.  It is in the shared buffer. */
struct step {
	uint32_t op;
	uint32_t times; /* it is made, one after another */
	uint32_t slots; /* bits of the arguments that are slots */
	int32_t into;	/* slot that the result goes to, or -1 */
	int64_t arg[6];
	uint32_t listed; /* scan_dir by plain calls: see scans.c */
	uint64_t look,
		look_len; /* bytes to sum up at once; the others are looked at after the batch */
	/* Its results: */
	int64_t result;	 /* of the last time */
	uint64_t digest; /* of all results, and of what was looked at */
};

/*
 * A walk by scan_tree: what it is asked for, and what it tells; in the shared buffer or outside.
 * Each has one of its own.
 */
struct walk {
	struct cosy_tree tree;
	char room[8192];	     /* of the tree */
	uint32_t length[WALK_CALLS]; /* bytes that each call told */
	char stream[WALK_STREAM];    /* all of them */
	/* For the same by plain calls: see walks.c. */
	uint32_t least, note_count;
	struct {
		uint32_t at, bytes;
	} note[WALK_STREAM / sizeof(struct cosy_dirent)];
};

struct batch {
	uint32_t count;
	int32_t wires[2];   /* to the others and back: see other.c */
	uint32_t word;	    /* that goes there */
	int32_t pair[2][2]; /* sockets that pages are lent to, and where they come out */
	int32_t poll;	    /* an epoll set */
	uint32_t events;    /* a struct epoll_event for it, with `data` */
	uint32_t data[2];
	int64_t slot[SLOTS];
	struct step step[STEPS];
	char received[RECEIVED];
};

/* A change that another process or thread makes. */
struct change {
	uint32_t op;
	uint32_t by_thread;
	char name[16], name2[16];
	int64_t value;
	int64_t result;
	uint32_t made;
};

/* A round's state. */
struct round {
	uint64_t seed, random;
	struct cosy *cosy;
	bool as_root;
	bool ticks;   /* a tick after each change, for relatime */
	bool direct;  /* O_DIRECT may be: see main.c */
	bool limited; /* files may not grow beyond FILE_LIMIT */
	struct batch *batch;
	char (*text)[160];	/* of each step of the batch */
	struct change *changes; /* shared with the others */
	uint32_t change_count;
	/* Memory of each kind, and the names as the process and the kernel see them: */
	char *shared, *ordinary, *half, *read_only;
	char *half_out; /* room for a part of what a call tells */
	char *names_shared, *names_ordinary;
	char *out_shared, *out_ordinary;	    /* OUT bytes for each step */
	struct walk *walks_shared, *walks_ordinary; /* WALKS each */
	uint32_t walk_count;			    /* of the batch */
	unsigned int number;			    /* of the batch */
	struct timespec start[BATCHES + 2];	    /* of each batch, as files' clock says */
	int root, around, outside; /* the tree, what is around it, and the machine's / */
	int io;			   /* what the process is charged for */
	FILE *told;
	FILE *notes, *noted; /* of scans, or NULL: see scans.c */
	pid_t child[2];	     /* who makes changes, and who permits; 0: nobody */
};

enum {
	MEMORY = 256 << 10,
	HALF = 8192, /* after which nothing is */
};

#define MIX 0x100000001b3ull

/* A bit of epoll_read's events: the descriptor is to be read. */
#define POLL_READS (1ll << 32)

/* Make the batch's steps by plain calls, inside a region, or as a compound built for them. */
void batch_plain(struct round *round);
void batch_region(struct round *round);
void batch_built(struct round *round);

/* Makes scan_dir's answer by plain calls; passes from one way to the other what each took. */
long scan_plainly(struct batch *batch, struct step *step, int fd, char *to, size_t size, int flags);
/* Does the same with scan_tree: the walk of at most `calls` calls for `size` bytes each. */
long walk_plainly(struct walk *walk, int fd, size_t size, uint32_t calls);
/* Does the same with epoll_read, which does not wait. */
long poll_plainly(int poll, char *to, size_t size, int max);
void walk_expect(FILE *notes, struct walk *walk);
void walk_note(FILE *noted, struct walk *walk);
/* Returns the bytes that all calls of a walk told. */
size_t walk_told(const struct walk *walk);
void scans_expect(struct round *round);
void scans_note(struct round *round);

/* Returns a random number below n. */
uint32_t draw(struct round *round, uint32_t n);
void batch_generate(struct round *round);
void memory_fill(struct round *round);

/* Thinks a change up, and says it in words. */
void other_generate(struct round *round, struct change *change, char *text);
void others_prepare(void);
/* Starts the others, which share the descriptors that are open now. */
void others_start(struct round *round);

enum { WATCH_INOTIFY = 1, WATCH_FANOTIFY = 2, WATCH_PERMISSIONS = 4 };
void watch_start(struct round *round, unsigned int which);
void watch_tell(struct round *round);

void tell_batch(struct round *round);
void tell_tree(struct round *round);
/* Returns the batch that a file's time lies in, or the time itself if it was set. */
const char *tell_time(struct round *round, int64_t sec, uint32_t nsec);

/*
 * Makes the whole round, in the empty directory; the transcript goes to `out`.  Plain rounds go by
 * the notes of scans, all others leave them there.  Returns an exit status.
 */
int round_make(const char *way, uint64_t seed, const char *directory, const char *out,
	       const char *notes);
void unmount_all(const char *tree);

#define TELL(round, ...) fprintf((round)->told, __VA_ARGS__)

#endif /* SAME_H */
