// SPDX-License-Identifier: MIT
/* policy.c - see policy.h. */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "environment.h"
#include "file/match.h"
#include "file/policy.h"
#include "likely.h"
#include "syscall.h"

/* NULL: not looked at yet. */
static const char *rules;

static const char *policy_rules(void)
{
	const char *text = __atomic_load_n(&rules, __ATOMIC_ACQUIRE);

	if (!text) {
		text = environment_get(ENVIRONMENT_POLICY);
		text = text ? text : "";
		__atomic_store_n(&rules, text, __ATOMIC_RELEASE);
	}
	return text;
}

/*
 * A path that a link of /proc leads to.  Most fit in `room`; a longer one gets memory of its own,
 * since the reading thread may have little stack.
 */
struct path {
	const char *text; /* NULL: not asked yet */
	long mapping;	  /* 0: none */
	char room[128];
};

/* The subject of conditions; asked for when the first condition needs it. */
struct subject {
	int fd; /* -1: no file, only the program */
	uint32_t type;
	bool has_type;
	bool unknown; /* something could not be found out */
	struct path file, program;
	const char *name; /* of a program that is about to be started; NULL: this one */
};

static const char *path_read(struct subject *subject, struct path *path, const char *link)
{
	long len;

	if (path->text)
		return path->text;
	path->text = path->room;
	path->room[0] = 0;
	len = cosy_syscall6(SYS_readlinkat, AT_FDCWD, (unsigned long)link,
			    (unsigned long)path->room, sizeof(path->room), 0, 0);
	if (len == sizeof(path->room)) {
		len = cosy_syscall6(SYS_mmap, 0, PATH_MAX, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (len > 0) {
			path->mapping = len;
			path->text = (const char *)len;
			len = cosy_syscall6(SYS_readlinkat, AT_FDCWD, (unsigned long)link,
					    path->mapping, PATH_MAX - 1, 0, 0);
		}
	}
	if (len > 0)
		((char *)path->text)[len] = 0;
	else
		subject->unknown = true;
	return path->text;
}

static void path_drop(struct path *path)
{
	if (path->mapping)
		cosy_syscall3(SYS_munmap, path->mapping, PATH_MAX, 0);
}

static const char *subject_path(struct subject *subject)
{
	char link[32] = "/proc/self/fd/", *digit = link + strlen(link);
	unsigned int number = subject->fd, power = 1000000000;

	while (power > 1 && power > number)
		power /= 10;
	for (; power; power /= 10)
		*digit++ = '0' + number / power % 10;
	return path_read(subject, &subject->file, link);
}

static uint32_t subject_type(struct subject *subject)
{
	struct statfs fs;

	if (!subject->has_type) {
		subject->type = cosy_syscall3(SYS_fstatfs, subject->fd, (unsigned long)&fs, 0)
					? 0
					: fs.f_type;
		subject->has_type = true;
	}
	return subject->type;
}

/* Matches a program by its name, or by its path where the glob has a slash. */
static bool subject_is_program(const char *glob, const char *end, struct subject *subject)
{
	if (!memchr(glob, '/', end - glob))
		return policy_match(glob, end,
				    subject->name ? subject->name : environment_program());
	return policy_match(glob, end, path_read(subject, &subject->program, "/proc/self/exe"));
}

static uint64_t condition_number(const char *from, const char *end, unsigned int base)
{
	uint64_t value = 0;

	for (; from < end; from++)
		value = value * base + (*from <= '9' ? *from - '0' : *from - 'a' + 10);
	return value;
}

/* A rule; members that it does not name are negative. */
struct rule {
	const char *place, *place_end;
	int off, alone;
	int64_t relax, window, memory;
};

static bool condition_holds(char kind, const char *from, const char *end, struct subject *subject)
{
	switch (kind) {
	case 'p':
		return subject_is_program(from, end, subject);
	case 'f':
		return subject->fd >= 0 && policy_match(from, end, subject_path(subject));
	case 't':
		return subject->fd >= 0 && subject_type(subject) == condition_number(from, end, 16);
	}
	return true;
}

/*
 * Reads the rule at `at`.  Returns where the next one is, or NULL at the end.  *matches: its
 * conditions hold; without a file only those of programs can.
 */
static const char *rule_read(const char *at, struct subject *subject, struct rule *rule,
			     bool *matches)
{
	if (!*at)
		return NULL;
	*rule = (struct rule){NULL, NULL, -1, -1, -1, -1, -1};
	*matches = true;
	while (*at && *at != '\n') {
		const char *from = at + 1, *end = strchr(from, '\t');

		if (!end)
			return NULL;
		*matches = *matches && condition_holds(*at, from, end, subject);
		switch (*at) {
		case 'o':
			rule->place = from;
			rule->place_end = end;
			break;
		case 's':
			rule->off = *from == '0';
			break;
		case 'a':
			rule->alone = *from == '1';
			break;
		case 'r':
			rule->relax = condition_number(from, end, 10);
			break;
		case 'w':
			rule->window = condition_number(from, end, 10);
			break;
		case 'm':
			rule->memory = condition_number(from, end, 10);
			break;
		}
		at = end + 1;
	}
	return at + (*at == '\n');
}

static void policy_remember_place(struct policy *policy, const struct rule *rule)
{
	size_t len = rule->place_end - rule->place;

	if (policy->place[0] || !rule->place)
		return;
	if (len >= sizeof(policy->place))
		len = sizeof(policy->place) - 1;
	memcpy(policy->place, rule->place, len);
	policy->place[len] = 0;
}

/* A subject takes room on the stack: only where there are rules. */
static COLD void subject_begin(struct subject *subject, int fd)
{
	subject->fd = fd;
	subject->has_type = subject->unknown = false;
	subject->file.text = subject->program.text = NULL;
	subject->name = NULL;
	subject->file.mapping = subject->program.mapping = 0;
}

static COLD void subject_end(struct subject *subject)
{
	path_drop(&subject->file);
	path_drop(&subject->program);
}

static COLD void policy_find_by_rules(const char *at, int fd, unsigned int relax,
				      struct policy *ret)
{
	int64_t relaxed = -1, window = -1;
	struct subject subject;
	struct rule rule;
	bool matches;
	int off = -1;

	subject_begin(&subject, fd);
	/* The first rule that names a setting decides it. */
	while ((at = rule_read(at, &subject, &rule, &matches))) {
		if (!matches)
			continue;
		policy_remember_place(ret, &rule);
		off = off < 0 ? rule.off : off;
		relaxed = relaxed < 0 ? rule.relax : relaxed;
		window = window < 0 ? rule.window : window;
	}
	/* A file that cannot be judged is left alone. */
	ret->off = off > 0 || subject.unknown;
	ret->relax = relaxed < 0 ? relax : (unsigned int)relaxed;
	ret->window = window < 0 ? UINT64_MAX : (uint64_t)window;
	subject_end(&subject);
}

void policy_find(int fd, unsigned int relax, struct policy *ret)
{
	const char *at = policy_rules();

	ret->place[0] = 0;
	ret->off = false;
	ret->relax = relax;
	ret->window = UINT64_MAX;
	if (*at)
		policy_find_by_rules(at, fd, relax, ret);
}

bool policy_relaxes(void)
{
	const char *at = policy_rules();
	struct subject subject;
	struct rule rule;
	bool matches, relaxes = false;

	subject_begin(&subject, -1);
	while (!relaxes && (at = rule_read(at, &subject, &rule, &matches)))
		relaxes = rule.relax > 0;
	subject_end(&subject);
	return relaxes;
}

static COLD uint64_t policy_memory_by_rules(const char *at)
{
	int64_t memory = -1;
	struct subject subject;
	struct rule rule;
	bool matches;

	subject_begin(&subject, -1);
	while (memory < 0 && (at = rule_read(at, &subject, &rule, &matches)))
		if (matches)
			memory = rule.memory;
	subject_end(&subject);
	return memory < 0 ? POLICY_MEMORY : (uint64_t)memory;
}

static COLD bool policy_alone_by_rules(const char *at, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct subject subject;
	struct rule rule;
	int leaves = -1;
	bool matches;

	subject_begin(&subject, -1);
	subject.name = slash ? slash + 1 : path;
	subject.program.text = path;
	while (leaves < 0 && (at = rule_read(at, &subject, &rule, &matches)))
		if (matches)
			leaves = rule.alone;
	subject_end(&subject);
	return leaves > 0;
}

bool policy_alone(const char *path)
{
	const char *at = policy_rules();

	return unlikely(*at) && path && policy_alone_by_rules(at, path);
}

uint64_t policy_memory(void)
{
	static uint64_t memory; /* 0: not looked for yet */
	const char *at = policy_rules();

	if (!memory)
		memory = *at ? policy_memory_by_rules(at) : POLICY_MEMORY;
	return memory;
}

/* Windows take one part of so many of a limit. */
#define LIMIT_PARTS 16

static uint64_t limit_part(int resource)
{
	struct rlimit limit;

	if (cosy_syscall6(SYS_prlimit64, 0, resource, 0, (unsigned long)&limit, 0, 0) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur / LIMIT_PARTS;
}

static bool limits_known;

uint64_t policy_addresses(void)
{
	static uint64_t addresses;
	uint64_t data;

	if (!__atomic_load_n(&limits_known, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&limits_known, true, __ATOMIC_SEQ_CST);
		data = limit_part(RLIMIT_DATA);
		addresses = limit_part(RLIMIT_AS);
		addresses = data < addresses ? data : addresses;
	}
	return addresses;
}

void policy_limits_changed(void)
{
	__atomic_store_n(&limits_known, false, __ATOMIC_SEQ_CST);
}
