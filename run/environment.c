// SPDX-License-Identifier: MIT
/* environment.c - see environment.h. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "environment.h"
#include "file/policy.h"
#include "lock.h"
#include "next.h"
#include "syscall.h"

/* In the order of the enumeration. */
static const char names[ENVIRONMENT_VARIABLES][24] = {
	"COSY_RUN_DAEMON=", "COSY_RUN_EAGER=", "COSY_RUN_EXPLAIN=", POLICY_VARIABLE "=",
	"COSY_RUN_RELAX=",  "COSYD_SOCKET=",   "COSY_RUN_STATS=",   "COSY_RUN_RESTORED=",
};

/* The value of COSY_RUN_RESTORED has a letter for each restored variable: 'a' for the first. */
typedef char restored[32];
_Static_assert(sizeof("COSY_RUN_RESTORED=") + ENVIRONMENT_VARIABLES <= sizeof(restored),
	       "there is room for all letters");

#define PRELOAD "LD_PRELOAD="
/* The beginning of each preloaded library's name. */
#define LIBRARY "/libcosy-run"

static const char *found[ENVIRONMENT_VARIABLES]; /* NAME=VALUE, or NULL */
static const char *program;			 /* NULL: ask libc */
static bool kept;

/* Returns the rest of `text` if it begins with `start`, or NULL. */
static const char *text_after(const char *text, const char *start)
{
	while (*start && *text == *start)
		text++, start++;
	return *start ? NULL : text;
}

static const char *environment_find(char *const envp[], const char *name)
{
	const char *value = NULL;

	while (envp && *envp && !(value = text_after(*envp, name)))
		envp++;
	return value;
}

/*
 * Copies the strings, because the program may overwrite those on the stack.  Without memory these
 * stay in use.
 */
static void environment_keep(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;
	size_t len = name ? strlen(name) + 1 : 0;
	char *copy;
	long mapping;

	for (int i = 0; i < ENVIRONMENT_VARIABLES; i++)
		if (found[i])
			len += strlen(found[i]) + 1;
	mapping = cosy_syscall6(SYS_mmap, 0, len, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapping < 0 && mapping >= -4095)
		return;
	copy = (char *)mapping;
	for (int i = 0; i < ENVIRONMENT_VARIABLES; i++) {
		if (!found[i])
			continue;
		len = strlen(found[i]) + 1;
		found[i] = memcpy(copy, found[i], len);
		copy += len;
	}
	if (name)
		program = strcpy(copy, name);
}

/*
 * Removes COSY_RUN_RESTORED and the variables whose letters it has, in place: the auxiliary vector,
 * which follows on the stack, does not move.
 */
static void environment_strip(char *envp[], const char *letters)
{
	char **to = envp;

	for (char **from = envp; *from; from++) {
		bool strips = text_after(*from, names[ENVIRONMENT_RESTORED]) != NULL;

		for (int i = 0; i < ENVIRONMENT_RESTORED && !strips; i++)
			strips = text_after(*from, names[i]) && strchr(letters, 'a' + i);
		if (!strips)
			*to++ = *from;
	}
	/* A search for the auxiliary vector from the list's end must find no stale pointer. */
	while (*to)
		*to++ = NULL;
}

void environment_begin(char *envp[], const char *path)
{
	char **first = envp;

	for (; *envp; envp++) {
		if (!text_after(*envp, "COSY"))
			continue;
		for (int i = 0; i < ENVIRONMENT_VARIABLES; i++) {
			const char *value = text_after(*envp, names[i]);

			if (!value || found[i])
				continue;
			found[i] = *value ? *envp : names[i];
			kept |= *value != 0;
		}
	}
	if (found[ENVIRONMENT_RESTORED])
		environment_strip(first, environment_get(ENVIRONMENT_RESTORED));
	found[ENVIRONMENT_RESTORED] = NULL;
	if (kept && NEXT(getauxval)(AT_SECURE)) {
		memset(found, 0, sizeof(found));
		kept = false;
	}
	if (kept)
		environment_keep(path);
}

char **environment_now(void)
{
	char ***environment = next_variable("environ");

	return environment ? *environment : NULL;
}

const char *environment_get(enum environment_variable variable)
{
	return found[variable] ? text_after(found[variable], names[variable]) : NULL;
}

const char *environment_program(void)
{
	char **name;

	if (program)
		return program;
	name = next_variable("program_invocation_short_name");
	return name ? *name : "";
}

bool environment_kept(void)
{
	return kept && found[ENVIRONMENT_POLICY];
}

size_t environment_room(char *const envp[])
{
	const char *preloaded;
	size_t count = 0;

	if (!environment_kept() || environment_find(envp, names[ENVIRONMENT_POLICY]))
		return 0;
	preloaded = environment_find(envp, PRELOAD);
	if (!preloaded || !strstr(preloaded, LIBRARY))
		return 0;
	while (envp[count])
		count++;
	return count + ENVIRONMENT_VARIABLES + 1 + sizeof(restored) / sizeof(char *);
}

/* Writes the beginning of COSY_RUN_RESTORED.  Returns the place of its letters. */
static char *restored_begin(char *mark)
{
	return strcpy(mark, names[ENVIRONMENT_RESTORED]) + strlen(names[ENVIRONMENT_RESTORED]);
}

char *const *environment_complete(char *const envp[], char *room[])
{
	char **end = room, *letter, *mark;

	for (size_t i = 0; envp[i]; i++)
		*end++ = envp[i];
	/* After the list there is room for the string. */
	mark = (char *)(room + (end - room) + ENVIRONMENT_VARIABLES + 1);
	letter = restored_begin(mark);
	for (int i = 0; i < ENVIRONMENT_RESTORED; i++) {
		if (!found[i] || environment_find(envp, names[i]))
			continue;
		*end++ = (char *)found[i];
		*letter++ = (char)('a' + i);
	}
	*letter = 0;
	*end++ = mark;
	*end = NULL;
	return room;
}

size_t environment_count(char *const envp[])
{
	size_t count = 0;

	while (envp && envp[count])
		count++;
	return count;
}

size_t environment_list_room(char *const envp[])
{
	size_t room = 0;

	for (; envp && *envp; envp++)
		if (text_after(*envp, PRELOAD))
			room += strlen(*envp) + 1;
	return room;
}

/* Appends the list to `to`, without this library. */
static void list_without(char *to, const char *list)
{
	char *begin = to;

	while (*list) {
		size_t len = 0;
		const char *library;

		while (list[len] && list[len] != ':' && list[len] != ' ')
			len++;
		library = strstr(list, LIBRARY);
		if (len && !(library && library < list + len)) {
			if (to > begin)
				*to++ = ':';
			memcpy(to, list, len);
			to += len;
		}
		list += len + (list[len] != 0);
	}
	*to = 0;
}

char *const *environment_without(char *const envp[], char *room[], char *list)
{
	char **end = room;

	if (!envp)
		return NULL;
	for (; *envp; envp++) {
		const char *preloaded = text_after(*envp, PRELOAD);

		if (!preloaded) {
			*end++ = *envp;
			continue;
		}
		strcpy(list, PRELOAD);
		list_without(list + sizeof(PRELOAD) - 1, preloaded);
		if (!list[sizeof(PRELOAD) - 1])
			continue;
		*end++ = list;
		list += strlen(list) + 1;
	}
	*end = NULL;
	return room;
}

unsigned int environment_restore(void)
{
	static restored mark;
	unsigned int added = 0;
	char *letter;

	if (!environment_kept() || !environment_room(environment_now()))
		return 0;
	letter = restored_begin(mark);
	for (int i = 0; i < ENVIRONMENT_RESTORED; i++) {
		if (!found[i] || environment_find(environment_now(), names[i]))
			continue;
		NEXT(putenv)((char *)found[i]);
		*letter++ = (char)('a' + i);
		added |= 1U << i;
	}
	*letter = 0;
	NEXT(putenv)(mark);
	return added | 1U << ENVIRONMENT_RESTORED;
}

void environment_unrestore(unsigned int added)
{
	char name[sizeof(*names)];

	/* Remove the last one first: others then stay in place for threads that read them. */
	for (int i = ENVIRONMENT_VARIABLES - 1; i >= 0; i--) {
		if (!(added >> i & 1))
			continue;
		strcpy(name, names[i]);
		*strchr(name, '=') = 0;
		NEXT(unsetenv)(name);
	}
}

/* While `hides` is not 0 the environment has `hidden` in the place of `shown`. */
static uint32_t hiding_lock;
static int hides;
static char *hidden, *shown;

/* Finds the slot of this string, by its address.  NULL: the program has changed the variable. */
static char **environment_slot(const char *entry)
{
	char **slot = environment_now();

	while (slot && *slot && *slot != entry)
		slot++;
	return slot && *slot ? slot : NULL;
}

/* Makes LD_PRELOAD without the library.  It is never freed, because other threads may read it. */
static bool hidden_make(const char *preloaded)
{
	size_t len = sizeof(PRELOAD) + strlen(preloaded);
	long mapping = cosy_syscall6(SYS_mmap, 0, len, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mapping < 0 && mapping >= -4095)
		return false;
	strcpy((char *)mapping, PRELOAD);
	list_without((char *)mapping + sizeof(PRELOAD) - 1, preloaded);
	if (hidden && !strcmp(hidden, (char *)mapping))
		cosy_syscall3(SYS_munmap, mapping, len, 0);
	else
		hidden = (char *)mapping;
	return true;
}

bool environment_hide(void)
{
	const char *preloaded;
	char **slot;

	lock_take(&hiding_lock);
	preloaded = hides ? NULL : environment_find(environment_now(), PRELOAD);
	if (preloaded && strstr(preloaded, LIBRARY) && hidden_make(preloaded)) {
		shown = (char *)preloaded - (sizeof(PRELOAD) - 1);
		slot = environment_slot(shown);
		hides = slot != NULL;
		if (slot)
			__atomic_store_n(slot, hidden, __ATOMIC_RELEASE);
	} else {
		hides += hides != 0;
	}
	preloaded = hides ? hidden : NULL;
	lock_drop(&hiding_lock);
	return preloaded != NULL;
}

static void hidden_show(void)
{
	char **slot = environment_slot(hidden);

	if (slot)
		__atomic_store_n(slot, shown, __ATOMIC_RELEASE);
}

void environment_show(void)
{
	lock_take(&hiding_lock);
	if (!--hides)
		hidden_show();
	lock_drop(&hiding_lock);
}

void environment_share_child(void)
{
	hiding_lock = 0;
	if (hides)
		hidden_show();
	hides = 0;
}
