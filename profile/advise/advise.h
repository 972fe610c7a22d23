/* SPDX-License-Identifier: MIT */
/*
 * advise.h - advice for a profile: findings, the best first.  Savings are ranges of
 * processor time, in ns of the recorded time.  Costs that cannot be measured on this machine are
 * derived from the project's own measurements (model.def, model.txt).
 */
#ifndef COSY_PROFILE_ADVISE_H
#define COSY_PROFILE_ADVISE_H

#include "advise/loop.h"
#include "fold/profile.h"

#define ADVISE_MAX_FINDINGS 64
#define ADVISE_TEXT	    400

enum advise_way {
	WAY_REGION, /* mark a loop */
	WAY_RUN,    /* cosy run */
	WAY_TRUNC,  /* cosy run --relax= */
	WAY_COALESCE,
	WAY_REMOVE, /* calls that say nothing new */
	WAY_NOTHING /* it does not pay, and why */
};

struct finding {
	enum advise_way way;
	uint32_t row;  /* of a region */
	uint32_t site; /* whose place is meant; 0: none */
	uint32_t object;
	uint64_t address;  /* of the place; in `object` */
	uint64_t function; /* of a region: that is the loop around it; 0: unknown */
	uint64_t calls, cpu;
	bool by_name;  /* of a region: as the loop stands it would not be compiled, see `type` */
	bool beyond;   /* of a region: the place is not the loop's, which a caller has */
	bool markable; /* the compiler can make a region of it, whether or not that pays */
	int64_t low, middle, high; /* ns saved; below 0 it costs */
	char title[ADVISE_TEXT];   /* may hold bytes of the program's choice: print it clean */
	char type[ADVISE_TEXT];	   /* what to type, one line */
	char better[ADVISE_TEXT];  /* what would save more, with another source; or "" */
	char gives_up[ADVISE_TEXT];
	char depends[ADVISE_TEXT]; /* on facts that were not checked, or may change; or "" */
	char why[ADVISE_TEXT];	   /* reason why the way does not pay */
};

/* The measurement of a predicted saving (verify/); `rounds` 0: none was made. */
struct verified {
	const char *way; /* "cosy run" or "regions" */
	unsigned int rounds;
	double plain, other;	/* ns of processor time of a whole run, medians */
	double low, high;	/* predicted, in parts of the processor time, as it is shown */
	double measured, noise; /* measured likewise; noise: between the quartiles of the runs */
	bool judged;		/* false: the noise is too large to tell */
	bool in;
};

/* Checks the present state of files by their paths (leases.h); `program`: the path of its file. */
struct file_look {
	enum run_reason (*look)(void *context, const struct run_file *file, const char *program,
				bool *daemon);
	void *context;
};

/* Facts besides the recording. */
struct advise_context {
	const struct loop_code *code;  /* finds loops in the programs' code; or NULL */
	const char *typed;	       /* the program as it was typed; or NULL */
	const struct file_look *files; /* or NULL: they may be others now */
};

struct advice {
	const struct profile *profile;
	struct advise_context context; /* while advise() runs */
	uint64_t cpu, kernel, user;    /* ns on the processor, recording's cost subtracted */
	uint64_t in_rows;	       /* calls that are in repeated sequences */
	struct finding findings[ADVISE_MAX_FINDINGS];
	uint32_t n;
	struct run_sums reads; /* the profile's, less those of files that cannot be served */
	struct finding run;    /* what `cosy run` would save, whether or not that is a finding */
	struct verified verified;
};

/* `context` may be NULL. */
void advise(const struct profile *profile, const struct advise_context *context,
	    struct advice *ret);

/*
 * True if the back end measures processor time well enough for shares of it.  ptrace does not: a
 * stop takes about ten times as long as a cheap call, and its time varies.
 */
bool advise_measures(const struct profile *profile);

/*
 * Processor time of so many calls, and between them, without what recording took.  By ptrace it is
 * what surely is the program's own, and at least what its calls take here without a tracer.
 */
uint64_t advise_cpu(const struct profile *profile, const struct sums *sums);
uint64_t advise_user(const struct profile *profile, const struct sums *sums);

/* Writes a time, such as "1.2 ms". */
void advise_time(char *to, size_t size, double ns);

/* Writes a part of the processor time: "12 %", or as a time where no share can be given. */
void advise_amount(char *to, size_t size, const struct advice *advice, double ns);

/* "lseek read (epoll_wait write)+", at most `size` bytes of it. */
void advise_sequence(const struct profile *profile, uint32_t symbol, char *to, size_t size);
void advise_session(const struct profile *profile, const struct session *session, char *to,
		    size_t size);

/* The ways' names, and an explanation of each for new users. */
extern const char *const advise_ways[],
	*const advise_what[], *const advise_file_kinds[], *const advise_edge_kinds[],
								  *const advise_run_reasons[];

#endif /* COSY_PROFILE_ADVISE_H */
