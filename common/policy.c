// SPDX-License-Identifier: MIT
/* policy.c - see policy.h. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../run/file/policy.h"
#include "policy.h"
#include "say.h"

/* One environment variable can take 128 KiB; the rules leave room. */
#define MAX_TEXT 65536
#define MAX_SIZE (1ULL << 40)

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

/* The parser and its place in the text. */
struct parser {
	const char *path;
	unsigned int line;
	const char *begin, *at; /* in the line */
	struct policy_text *rules;
};

static bool wrong(const struct parser *parser, const char *at, const char *reason, ...)
{
	char *why = NULL;
	va_list args;

	va_start(args, reason);
	if (vasprintf(&why, reason, args) >= 0)
		say("cosy run: %s:%u:%zu: %s", parser->path, parser->line,
		    (size_t)(at - parser->begin) + 1, why);
	va_end(args);
	free(why);
	return false;
}

/* Adds a field in the library's form. */
static bool emit(struct parser *parser, char kind, const char *from, size_t len)
{
	struct policy_text *rules = parser->rules;
	char *text = realloc(rules->text, rules->len + len + 4);

	if (!text || rules->len + len > MAX_TEXT)
		return wrong(parser, parser->at, "there are too many rules: more than %d bytes",
			     MAX_TEXT);
	rules->text = text;
	text[rules->len++] = kind;
	memcpy(text + rules->len, from, len);
	rules->len += len;
	text[rules->len++] = '\t';
	text[rules->len] = 0;
	return true;
}

static bool emit_number(struct parser *parser, char kind, uint64_t value, const char *format)
{
	char digits[24];

	return emit(parser, kind, digits, snprintf(digits, sizeof(digits), format, value));
}

static void end_rule(struct parser *parser)
{
	parser->rules->text[parser->rules->len++] = '\n';
	parser->rules->text[parser->rules->len] = 0;
}

static void skip_spaces(struct parser *parser)
{
	parser->at += strspn(parser->at, " ");
}

static bool is(const char *from, size_t len, const char *name)
{
	return strlen(name) == len && !strncmp(from, name, len);
}

/* Reads a word up to a space, or up to the closing quote after an opening one. */
static bool word(struct parser *parser, const char *what, const char **from, size_t *len)
{
	skip_spaces(parser);
	if (*parser->at == '"') {
		*from = ++parser->at;
		*len = strcspn(*from, "\"");
		if (!(*from)[*len])
			return wrong(parser, *from - 1, "the quote is not closed");
		parser->at = *from + *len + 1;
	} else {
		*from = parser->at;
		*len = strcspn(*from, " \"");
		parser->at += *len;
		if (is(*from, *len, ":"))
			*len = 0;
	}
	if (!*len)
		return wrong(parser, *from, "%s is missing", what);
	return true;
}

static bool file_system(struct parser *parser, const char *from, size_t len)
{
	static const struct {
		char name[12];
		uint32_t type; /* statfs(2)'s f_type */
	} types[] = {
		{"ext2", 0xef53},      {"ext3", 0xef53},	 {"ext4", 0xef53},
		{"tmpfs", 0x01021994}, {"xfs", 0x58465342},	 {"btrfs", 0x9123683e},
		{"f2fs", 0xf2f52010},  {"squashfs", 0x73717368}, {"erofs", 0xe0f5e1e2},
	};

	for (size_t i = 0; i < LENGTH(types); i++)
		if (is(from, len, types[i].name))
			return emit_number(parser, 't', types[i].type, "%lx");
	return wrong(
		parser, from,
		"no file system is called \"%.*s\" here: ext2, ext3, ext4 (which are one), tmpfs, "
		"xfs, btrfs, f2fs, squashfs and erofs are; files of others are never specialised",
		(int)len, from);
}

/* Reads "program GLOB", "file GLOB" or "filesystem NAME", whose first word has been read. */
static bool condition(struct parser *parser, const char *name, size_t name_len, bool *of_file)
{
	const char *from;
	size_t len;

	if (is(name, name_len, "program"))
		return word(parser, "the program's name, or a pattern,", &from, &len) &&
		       emit(parser, 'p', from, len);
	*of_file = true;
	if (is(name, name_len, "file")) {
		if (!word(parser, "the file's path, or a pattern,", &from, &len))
			return false;
		if (*from != '/' && *from != '*')
			return wrong(parser, from, "a file's path begins with / or *");
		return emit(parser, 'f', from, len);
	}
	if (is(name, name_len, "filesystem"))
		return word(parser, "the file system's name", &from, &len) &&
		       file_system(parser, from, len);
	return wrong(parser, name, "\"%.*s\" is none of program, file and filesystem",
		     (int)name_len, name);
}

/* Reads 4096, 64K, 1M or 1G.  Returns NULL, or the error and its place in *at. */
static const char *read_size(const char *from, size_t len, uint64_t *value, size_t *at)
{
	static const char units[] = "KMG";
	size_t i = 0;

	/* A value that is already too large grows no further. */
	for (*value = 0; i < len && from[i] >= '0' && from[i] <= '9'; i++)
		if (*value <= MAX_SIZE)
			*value = *value * 10 + (from[i] - '0');
	if (i && i < len && strchr(units, from[i])) {
		unsigned int shift = 10 * (strchr(units, from[i++]) - units + 1);

		*value = *value > MAX_SIZE ? *value : *value << shift;
	}
	*at = i;
	if (!i || i != len)
		return "a size is a number, with K, M or G after it or nothing";
	*at = 0;
	return *value < 4096 || *value > MAX_SIZE ? "a size is between 4K and 1024G" : NULL;
}

static bool size(struct parser *parser, char kind, const char *from, size_t len)
{
	uint64_t value;
	size_t at;
	const char *reason = read_size(from, len, &value, &at);

	if (reason)
		return wrong(parser, from + at, "%s", reason);
	return emit_number(parser, kind, value, "%lu");
}

bool policy_add_memory(const char *text, struct policy_text *rules)
{
	struct parser parser = {.path = "--memory", .at = text, .begin = text, .rules = rules};
	uint64_t value;
	size_t at;
	const char *reason = read_size(text, strlen(text), &value, &at);

	if (reason) {
		say("cosy run: --memory=%s: at character %zu: %s", text, at + 1, reason);
		return false;
	}
	if (!emit(&parser, 'o', parser.path, strlen(parser.path)) ||
	    !emit_number(&parser, 'm', value, "%lu"))
		return false;
	end_rule(&parser);
	return true;
}

int policy_relax_list(const char *list, size_t len, size_t *good)
{
	static const struct {
		char name[12];
		int bit;
	} kinds[] = {
		{"trunc", RELAX_TRUNC}, {"coalesce", RELAX_COALESCE}, {"reflink", RELAX_REFLINK}};
	int bits = 0;

	for (*good = 0;; ++*good) {
		const char *end = memchr(list + *good, ',', len - *good);
		size_t one = end ? (size_t)(end - list) - *good : len - *good, i;

		for (i = 0; i < LENGTH(kinds) && !is(list + *good, one, kinds[i].name); i++)
			;
		if (i == LENGTH(kinds))
			return -1;
		bits |= kinds[i].bit;
		*good += one;
		if (*good == len)
			return bits;
	}
}

static bool relaxing(struct parser *parser, const char *from, size_t len)
{
	size_t good;
	int bits = is(from, len, "none") ? 0 : policy_relax_list(from, len, &good);

	if (bits < 0)
		return wrong(
			parser, from + good,
			"relax= takes trunc, coalesce and reflink, with commas between, or none");
	parser->rules->relaxes |= bits != 0;
	return emit_number(parser, 'r', bits, "%lu");
}

static bool setting(struct parser *parser, bool of_file)
{
	const char *from;
	size_t len;

	if (!word(parser, "a setting", &from, &len))
		return false;
	if (is(from, len, "off"))
		return emit(parser, 's', "0", 1);
	if (is(from, len, "on"))
		return emit(parser, 's', "1", 1);
	if (is(from, len, "alone") || is(from, len, "preloaded")) {
		if (of_file)
			return wrong(parser, from,
				     "%.*s is for a whole process: it cannot depend on file or "
				     "filesystem",
				     (int)len, from);
		return emit(parser, 'a', *from == 'a' ? "1" : "0", 1);
	}
	if (len >= 6 && !strncmp(from, "relax=", 6))
		return relaxing(parser, from + 6, len - 6);
	if (len >= 7 && !strncmp(from, "window=", 7))
		return size(parser, 'w', from + 7, len - 7);
	if (len >= 7 && !strncmp(from, "memory=", 7)) {
		if (of_file)
			return wrong(parser, from,
				     "memory= is for a whole process: it cannot depend on file or "
				     "filesystem");
		return size(parser, 'm', from + 7, len - 7);
	}
	return wrong(parser, from,
		     "\"%.*s\" is none of on, off, alone, preloaded, relax=, window= and memory=",
		     (int)len, from);
}

/* CONDITION... : SETTING... */
static bool rule(struct parser *parser)
{
	char place[300];
	bool of_file = false;
	int place_len = snprintf(place, sizeof(place), "%s:%u", parser->path, parser->line);

	if (!emit(parser, 'o', place, place_len < 300 ? place_len : 299))
		return false;
	for (skip_spaces(parser); *parser->at != ':'; skip_spaces(parser)) {
		const char *from;
		size_t len;

		if (!*parser->at)
			return wrong(parser, parser->at, "\":\" and settings are missing");
		if (!word(parser, "a condition", &from, &len) ||
		    !condition(parser, from, len, &of_file))
			return false;
	}
	parser->at++;
	do {
		if (!setting(parser, of_file))
			return false;
		skip_spaces(parser);
	} while (*parser->at);
	end_rule(parser);
	return true;
}

static bool line(struct parser *parser)
{
	char *comment;

	for (char *at = (char *)parser->begin; *at; at++) {
		if (*at == '\t')
			*at = ' ';
		else if ((unsigned char)*at < ' ' || *at == 127)
			return wrong(parser, at, "there is a control character");
	}
	skip_spaces(parser);
	if (*parser->at == '#' || !*parser->at)
		return true;
	/* A comment may also follow a rule; a # within a word is part of the word. */
	comment = strstr(parser->at, " #");
	if (comment)
		*comment = 0;
	while (parser->at[strlen(parser->at) - 1] == ' ')
		((char *)parser->at)[strlen(parser->at) - 1] = 0;
	return rule(parser);
}

bool policy_leave_alone(const char *patterns, struct policy_text *rules)
{
	struct parser parser = {.path = "--alone", .line = 1, .begin = patterns, .rules = rules};

	for (parser.at = patterns;; parser.at++) {
		size_t len = strcspn(parser.at, ",");

		for (const char *at = parser.at; at < parser.at + len; at++)
			if ((unsigned char)*at < ' ' || *at == 127)
				return wrong(&parser, at, "there is a control character");
		if (!len)
			return wrong(&parser, parser.at,
				     "a program's name, or a pattern, is missing");
		if (!emit(&parser, 'o', "--alone", 7) || !emit(&parser, 'p', parser.at, len) ||
		    !emit(&parser, 'a', "1", 1))
			return false;
		rules->text[rules->len++] = '\n';
		rules->text[rules->len] = 0;
		parser.at += len;
		if (!*parser.at)
			return true;
	}
}

bool policy_switch_off(const char *place, const char *pattern, struct policy_text *rules)
{
	struct parser parser = {.path = place, .at = pattern, .begin = pattern, .rules = rules};

	if (!emit(&parser, 'o', place, strlen(place)) ||
	    !emit(&parser, 'f', pattern, strlen(pattern)) || !emit(&parser, 's', "0", 1))
		return false;
	end_rule(&parser);
	return true;
}

bool policy_read(const char *path, bool optional, struct policy_text *rules)
{
	struct parser parser = {.path = path, .rules = rules};
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	bool fine = true;
	ssize_t len;

	if (!file && optional && (errno == ENOENT || errno == ENOTDIR))
		return true;
	if (!file) {
		say("cosy run: %s: %s", path, strerror(errno));
		return false;
	}
	while (fine && (len = getline(&text, &room, file)) > 0) {
		if (text[len - 1] == '\n')
			text[--len] = 0;
		parser.line++;
		parser.begin = parser.at = text;
		if (strlen(text) != (size_t)len)
			fine = wrong(&parser, text + strlen(text), "there is a control character");
		else
			fine = line(&parser);
	}
	if (fine && ferror(file)) {
		say("cosy run: %s: %s", path, strerror(errno));
		fine = false;
	}
	free(text);
	fclose(file);
	return fine;
}

bool policy_read_all(const char *only, struct policy_text *rules)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	bool has_config = config && *config == '/';
	const char *where = has_config ? config : home ? home : "/";
	char path[PATH_MAX];

	if (only)
		return policy_read(only, false, rules);
	/*
	 * Ignore a home of another user, which su and setpriv may leave, and a name that is too
	 * long.
	 */
	if (snprintf(path, sizeof(path), "%s%s/cosy", where, has_config ? "" : "/.config") >=
		    (int)(sizeof(path) - sizeof("/run.conf")) ||
	    (access(path, X_OK) && (errno == EACCES || errno == ENAMETOOLONG)))
		path[0] = 0;
	else
		strcat(path, "/run.conf");
	return policy_read(path, true, rules) && policy_read("/etc/cosy/run.conf", true, rules);
}
