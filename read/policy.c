// SPDX-License-Identifier: MIT
/* policy.c - see policy.h. */
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "environment.h"
#include "policy.h"
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

bool policy_match(const char *glob, const char *end, const char *text)
{
	/* Where to go on when what follows the last `*` and the last `**` does not match after all. */
	const char *star = NULL, *star_text = NULL, *stars = NULL, *stars_text = NULL;

	for (;;) {
		if (end - glob > 1 && glob[0] == '*' && glob[1] == '*') {
			stars = glob += 2;
			stars_text = text;
			star = NULL;
		} else if (glob < end && *glob == '*') {
			star = ++glob;
			star_text = text;
		} else if (glob < end && *text &&
			   (*glob == *text || (*glob == '?' && *text != '/'))) {
			glob++;
			text++;
		} else if (glob == end && !*text) {
			return true;
		} else if (star && *star_text && *star_text != '/') {
			text = ++star_text;
			glob = star;
		} else if (stars && *stars_text) {
			text = ++stars_text;
			glob = stars;
			star = NULL;
		} else {
			return false;
		}
	}
}

/* What conditions are compared with; asked when the first condition needs it. */
struct subject {
	int fd;
	char path[PATH_MAX];
	uint32_t type;
	bool has_path, has_type;
};

static const char *subject_path(struct subject *subject)
{
	char link[32] = "/proc/self/fd/", *digit = link + strlen(link);
	unsigned int number = subject->fd, power = 1000000000;
	long len;

	if (subject->has_path)
		return subject->path;
	while (power > 1 && power > number)
		power /= 10;
	for (; power; power /= 10)
		*digit++ = '0' + number / power % 10;
	len = cosy_syscall6(SYS_readlinkat, -100, (unsigned long)link, (unsigned long)subject->path,
			    sizeof(subject->path) - 1, 0, 0);
	subject->path[len < 0 ? 0 : len] = 0;
	subject->has_path = true;
	return subject->path;
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

/* A program by its name, or by its path where the glob has a slash. */
static bool is_program(const char *glob, const char *end)
{
	char path[PATH_MAX];
	long len;

	if (!memchr(glob, '/', end - glob))
		return policy_match(glob, end, environment_program());
	len = cosy_syscall6(SYS_readlinkat, -100, (unsigned long)"/proc/self/exe",
			    (unsigned long)path, sizeof(path) - 1, 0, 0);
	path[len < 0 ? 0 : len] = 0;
	return policy_match(glob, end, path);
}

static uint64_t number(const char *from, const char *end, unsigned int base)
{
	uint64_t value = 0;

	for (; from < end; from++)
		value = value * base + (*from <= '9' ? *from - '0' : *from - 'a' + 10);
	return value;
}

/* What a rule says: members that it does not name are negative. */
struct rule {
	const char *place, *place_end;
	int off;
	int64_t relax, window, memory;
};

static bool holds(char kind, const char *from, const char *end, struct subject *subject)
{
	switch (kind) {
	case 'p':
		return is_program(from, end);
	case 'f':
		return subject && policy_match(from, end, subject_path(subject));
	case 't':
		return subject && subject_type(subject) == number(from, end, 16);
	}
	return true;
}

/*
 * Reads the rule at `at`; where the next one is, or NULL at the end.  *matches: its
 * conditions hold.  Without a subject only those of programs can.
 */
static const char *read_rule(const char *at, struct subject *subject, struct rule *rule,
			     bool *matches)
{
	if (!*at)
		return NULL;
	*rule = (struct rule){NULL, NULL, -1, -1, -1, -1};
	*matches = true;
	while (*at && *at != '\n') {
		const char *from = at + 1, *end = strchr(from, '\t');

		if (!end)
			return NULL;
		*matches = *matches && holds(*at, from, end, subject);
		switch (*at) {
		case 'o':
			rule->place = from;
			rule->place_end = end;
			break;
		case 's':
			rule->off = *from == '0';
			break;
		case 'r':
			rule->relax = number(from, end, 10);
			break;
		case 'w':
			rule->window = number(from, end, 10);
			break;
		case 'm':
			rule->memory = number(from, end, 10);
			break;
		}
		at = end + 1;
	}
	return at + (*at == '\n');
}

static void remember_place(struct policy *policy, const struct rule *rule)
{
	size_t len = rule->place_end - rule->place;

	if (policy->place[0] || !rule->place)
		return;
	if (len >= sizeof(policy->place))
		len = sizeof(policy->place) - 1;
	memcpy(policy->place, rule->place, len);
	policy->place[len] = 0;
}

/*
 * A function of its own, so that where there are no rules no room is taken for a path: a
 * signal handler that reads may have a stack of 8 KiB in all.
 */
static __attribute__((noinline)) void find_by_rules(const char *at, int fd, unsigned int relax,
						    struct policy *ret)
{
	struct subject subject = {.fd = fd, .has_path = false, .has_type = false};
	int64_t relaxed = -1, window = -1;
	struct rule rule;
	bool matches;
	int off = -1;

	/* For each setting the first rule that names it counts. */
	while ((at = read_rule(at, &subject, &rule, &matches))) {
		if (!matches)
			continue;
		remember_place(ret, &rule);
		off = off < 0 ? rule.off : off;
		relaxed = relaxed < 0 ? rule.relax : relaxed;
		window = window < 0 ? rule.window : window;
	}
	ret->off = off > 0;
	ret->relax = relaxed < 0 ? relax : (unsigned int)relaxed;
	ret->window = window < 0 ? UINT64_MAX : (uint64_t)window;
}

void policy_find(int fd, unsigned int relax, struct policy *ret)
{
	const char *at = policy_rules();

	ret->place[0] = 0;
	ret->off = false;
	ret->relax = relax;
	ret->window = UINT64_MAX;
	if (*at)
		find_by_rules(at, fd, relax, ret);
}

bool policy_relaxes(void)
{
	const char *at = policy_rules();
	struct rule rule;
	bool matches;

	while ((at = read_rule(at, NULL, &rule, &matches)))
		if (rule.relax > 0)
			return true;
	return false;
}

uint64_t policy_memory(void)
{
	static uint64_t memory; /* + 1 */
	const char *at = policy_rules();
	struct rule rule;
	bool matches;

	if (!memory) {
		while ((at = read_rule(at, NULL, &rule, &matches)))
			if (matches && rule.memory >= 0)
				break;
		memory = at ? (uint64_t)rule.memory + 1 : UINT64_MAX;
	}
	return memory - 1;
}
