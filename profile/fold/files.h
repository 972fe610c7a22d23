/* SPDX-License-Identifier: MIT */
/*
 * files.h - the file of each descriptor of each process, and its session until the close.
 */
#ifndef COSY_PROFILE_FILES_H
#define COSY_PROFILE_FILES_H

#include "fold/grammar.h"

#define FILES_MAX_DESCRIPTOR 65536

/* Of one fold. */
struct files {
	struct grammar *grammar;
	uint32_t n_open;
	uint64_t serial;
};

/* The object of an open, to which all its duplicates refer. */
struct open_file {
	uint32_t references;
	uint64_t serial; /* of this one only */
	uint8_t kind;	 /* enum file_kind */
	bool opened;	 /* by the program, as far as is known */
	bool earlier;	 /* before the recording began */
	bool shared;	 /* with another process */
	bool position_known;
	bool extends;	/* its writes make it longer, as far as is known */
	uint32_t flags; /* O_* */
	int64_t position;
	/* `cosy run`: ns that reads have earned so far. */
	int64_t credit;
	bool window;
	uint64_t window_reads;		/* what it has served */
	bool whole;			/* and all of the file is in it, or mapped */
	bool sought;			/* moved elsewhere since its last read */
	int64_t window_from, window_to; /* what it holds, about */
	int64_t next;			/* where a sequential read would go on */
	uint64_t direct, fetched;	/* reads past the window, their bytes or pages */
	int64_t low, high;		/* and between which offsets */
	uint64_t steady;		/* since the last higher one */
	char *path;			/* of a file that it may serve; NULL: unknown */
	uint32_t run_file;		/* profile.run_files; 0: none */
	uint64_t calls, cpu;
	/* useless.h */
	uint64_t asked;	   /* hash of its process and name; 0: not known */
	uint64_t contents; /* hash of the bytes read and their places; 0: none */
	bool unsure;	   /* something else was done with it, or is not known */
	bool ended;	   /* a read has found its end */
	/* relax.h */
	uint32_t name;	  /* its number; 0: not known */
	bool rewrites;	  /* an old end would be there still */
	bool fresh;	  /* truncated, and maybe empty before */
	uint64_t settled; /* its process's, when it was opened */
	uint64_t writes, small_writes, coalesced, coalesced_cpu;
	struct {
		uint64_t calls, writes, bytes, cpu;
	} rewrite; /* in place: open, writes and close */
	struct grammar_line *line;
};

struct file_table {
	uint32_t references;
	uint32_t n;
	struct open_file **files; /* by descriptor */
};

struct fold_process {
	uint32_t pid;
	uint32_t threads;
	uint32_t lane;		      /* of the timeline */
	uint32_t program;	      /* profile.programs */
	bool first;		      /* the first one, and none that it executed */
	char started[EVENT_MAX_PATH]; /* the path that it was executed by; "": not known */
	struct file_table *table;
	uint64_t directory;    /* changes with each chdir */
	bool moved;	       /* it, or who made it, has changed it */
	int64_t thread_credit; /* `cosy run`: towards the thread that returns leases */
	int64_t dearer;	       /* ns that a window has to earn here, beyond WINDOW_COST */
	bool late;	       /* the next window is, and teaches nothing */
	bool threaded;	       /* it has, or had, a second thread */
	bool bus_handled;      /* its SIGBUS may be its own, so `cosy run` maps nothing */
	uint64_t settled;      /* times that old ends would have been cut */
	uint64_t writing;      /* serial of the file that the calls of late have written, or 0 */
	struct fold_process *next;
};

/* Makes a file with one reference, which the caller drops. */
struct open_file *open_file_create(struct files *files, unsigned int kind);

struct open_file *files_get(const struct fold_process *process, int64_t fd);
/* Puts the file there with one more reference, and drops the previous one. */
void files_set(struct files *files, struct fold_process *process, int64_t fd,
	       struct open_file *file);
void files_drop(struct files *files, struct open_file *file);

struct file_table *file_table_create(void);
struct file_table *file_table_copy(struct file_table *from);
void file_table_drop(struct files *files, struct file_table *table);

/* Applies the call's effect to the descriptors.  Call it after the call has been counted. */
void files_call(struct files *files, struct fold_process *process, const struct event_call *call);

/* Returns the file that a call is made on, or NULL. */
struct open_file *files_of_call(const struct fold_process *process, const struct event_call *call);

/* Adds a call, of `cpu` ns, to the session of its file. */
void files_session(struct files *files, struct open_file *file, const struct event_call *call,
		   const struct sums *sums);

/* Guesses the kind of a file from its path alone. */
enum file_kind file_kind_of_path(const char *path);

#endif /* COSY_PROFILE_FILES_H */
