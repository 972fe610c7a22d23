# SPDX-License-Identifier: MIT
"""Functions of the forms that programs have: walkers of folders, lists of names, trees, structs by value.

Each has the program's prefix PREFIX_ and some parts chosen at random.
"""

from __future__ import annotations

import random
from collections.abc import Callable


def walker(rng: random.Random) -> str:
    """Walks a folder, as it comes or sorted."""
    report = [
        "perror(path);",
        'fprintf(stderr, "%s: %s\\n", path, strerror(errno));',
        'PREFIX_log(depth, "%s: %d", path, errno);',
        "*sum += errno;",
        'warn("cannot open %s", path);',
    ]
    skipped = ["entry->d_name[0] == '.'", '!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")']
    examined = ["lstat(name, &st)", "fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW)", "stat(name, &st)"]
    files = [
        "*sum += st.st_mode + (S_ISREG(st.st_mode) ? st.st_size : 0);",
        "*sum += (at = strrchr(name, 'd')) ? hash_bytes(at, strlen(at)) : 1;",
        "fd = open(name, O_RDONLY);\n\tif (fd >= 0) {\n\t\tn = read(fd, text, sizeof(text));\n"
        "\t\tif (n > 0)\n\t\t\t*sum += hash_bytes(text, n);\n\t\tclose(fd);\n\t}",
        "n = readlink(name, text, sizeof(text) - 1);\n\tif (n >= 0) {\n\t\ttext[n] = 0;\n"
        "\t\t*sum += strlen(text) * 3;\n\t} else {\n\t\t*sum += errno;\n\t}",
        "if (access(name, X_OK) < 0)\n\t\t*sum += errno;",
        "if (st.st_mode & 0100 && depth > 1)\n\t\tchmod(name, 0644);",
        'if (!strcmp(entry->d_name, "d"))\n\t\t*sum ^= unlink(name);' if rng.randrange(2) else "*sum += st.st_nlink;",
    ]
    each = "\n\t".join(rng.sample(files, rng.randrange(1, 4)))
    text = f"""
static void PREFIX_walk(const char *path, int depth, u64 *sum)
{{
	struct stat st;
	char name[96], text[40], *at;
	struct dirent *entry;
	ssize_t n = 0;
	int fd = -1;
	DIR *dir = opendir(path);

	(void)n, (void)fd, (void)text, (void)at;
	if (!dir) {{
		{rng.choice(report)}
		return;
	}}
"""
    if rng.randrange(3):
        text += f"""	while ((entry = readdir(dir))) {{
	if ({rng.choice(skipped)})
		continue;
	if (snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) >= {rng.choice(["60", "(int)sizeof(name)"])})
		continue;
	if ({rng.choice(examined)} < 0) {{
		{rng.choice(report).replace("path", "name")}
		continue;
	}}
	if (S_ISDIR(st.st_mode) && depth < {rng.randrange(2, 6)} && Fuel) {{
		Fuel--;
		PREFIX_walk(name, depth + 1, sum);
	}}
	{each}
	}}
	closedir(dir);
}}
"""
    else:
        each = each.replace("entry->d_name", "list[i]")
        text = text.replace(
            "	struct stat st;\n", "	char *list[64];\n	int count = 0;\n	struct stat st;\n", 1
        )
        text += f"""	while (count < 64 && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			list[count++] = strdup(entry->d_name);
	closedir(dir);
	qsort(list, count, sizeof(*list), compare_texts);
	for (int i = 0; i < count; i++) {{
	snprintf(name, sizeof(name), "%s/%s", path, list[i]);
	if (lstat(name, &st) == 0) {{
	if (S_ISDIR(st.st_mode) && depth < {rng.randrange(2, 5)} && Fuel) {{
		Fuel--;
		PREFIX_walk(name, depth + 1, sum);
	}}
	{each}
	*sum = mix(*sum, hash_bytes(list[i], strlen(list[i])));
	}}
	free(list[i]);
	}}
}}
"""
    return text


def vector(rng: random.Random) -> str:
    """A list of texts that grows."""
    between = rng.choice(['"/"', '", "', "i ? v->item[0] : v->item[i]"])
    return f"""
struct PREFIX_vector {{
	char **item;
	u32 count, room;
}};

static int PREFIX_push(struct PREFIX_vector *v, const char *text)
{{
	if (v->count == v->room) {{
		u32 room = v->room {rng.choice(["? v->room * 2 : 2", "+ 3", "? v->room + v->room / 2 + 1 : 1"])};
		char **grown = {rng.choice(["realloc(v->item, room * sizeof(*grown))", "reallocarray(v->item, room, 8)"])};

		if (!grown)
			return -1;
		v->item = grown;
		v->room = room;
	}}
	v->item[v->count] = {rng.choice(["strdup(text)", "strndup(text, 5)"])};
	return v->item[v->count++] ? 0 : -1;
}}

static i64 PREFIX_join(const struct PREFIX_vector *v, char *to, u32 size)
{{
	u32 used = 0;

	to[0] = 0;
	for (u32 i = 0; i < v->count; i++) {{
		int n = snprintf(to + used, size - used, "%s%s", {between}, v->item[i]);

		if ((u32)n >= size - used)
			return -n;
		used += n;
	}}
	return used;
}}

static i64 PREFIX_names(i64 n, const char *first)
{{
	struct PREFIX_vector v = {{0}};
	char text[{rng.choice([24, 48, 200])}];
	i64 r = 0;

	for (u32 i = 0; i < (u32)n % 23; i++) {{
		snprintf(text, sizeof(text), "{rng.choice(["%s-%d", "%.4s%03d", "%s%x"])}", first, (int)((u64)n * i % 100));
		if (PREFIX_push(&v, text) < 0)
			return -1;
	}}
	if (v.count{rng.choice(["", " > 3"])})
		qsort(v.item, v.count, sizeof(*v.item), compare_texts);
	r = PREFIX_join(&v, text, sizeof(text));
	r = mix(r, hash_bytes(text, strlen(text)));
	{rng.choice(["for (u32 i = 0; i < v.count; i++)", "while (v.count-- > 0)"])}
		free(v.item[{{}}]);
	free(v.item);
	return r;
}}
"""


def tree(rng: random.Random) -> str:
    """A tree of records, by functions that call themselves."""
    order = rng.choice(
        ["key < (*at)->record.key", "strcmp(text, (*at)->record.name) < 0", "(key & 255) > ((*at)->record.key & 255)"]
    )
    return f"""
static struct node *PREFIX_T;

static int PREFIX_insert(struct node **at, i32 key, const char *text)
{{
	if (!*at) {{
		*at = {rng.choice(["calloc(1, sizeof(**at))", "memset(malloc(sizeof(**at)), 0, sizeof(**at))"])};
		(*at)->record.key = key;
		strncpy((*at)->record.name, text, 11);
		return 1;
	}}
	{rng.choice(["if ((*at)->record.key == key)", "if (!strncmp((*at)->record.name, text, 3))"])}
		return {rng.choice(["0", "++(*at)->record.tag", "-1"])};
	return {rng.randrange(3)} + PREFIX_insert({order} ? &(*at)->left : &(*at)->next, key, text);
}}

static i64 PREFIX_fold(const struct node *at, i64 (*f)(i64, i64), i64 sum)
{{
	if (!at)
		return sum;
	sum = PREFIX_fold(at->left, f, sum);
	sum = f(sum, hash_record(&at->record));
	return PREFIX_fold(at->next, f, sum);
}}

static i64 PREFIX_xor(i64 a, i64 b)
{{
	return {rng.choice(["a ^ b", "(i64)mix(a, b)", "(i64)((u64)a * 3 + (u64)b)"])};
}}

static void PREFIX_drop(struct node **at)
{{
	if (*at) {{
		PREFIX_drop(&(*at)->left);
		PREFIX_drop(&(*at)->next);
		free(*at);
		*at = NULL;
	}}
}}
"""


def values(rng: random.Random) -> str:
    """Structs by value, results through pointers, and a count that stays between calls."""
    more = rng.choice(["key", "tag", "high", "value"])
    kept = rng.choice(["static i64 kept;", "static i64 kept = 7;", "static _Thread_local i64 kept;"])
    return f"""
static struct record PREFIX_change(struct record r, i64 n)
{{
	r.{more} = (u64)r.{more} + (u64)n;
	r.{rng.choice(["low", "tag", "value"])} ^= n >> 3;
	if ({rng.choice(["r.key & 1", "n > 50", "r.low == 3"])})
		snprintf(r.name, sizeof(r.name), "%.3s%d", "changed", (int)n % 100);
	return r;
}}

static int PREFIX_split(i64 n, i32 *low, i64 *high, struct record *record)
{{
	{kept}

	kept = mix(kept, n);
	*low = (i32)n;
	*high = n >> {rng.randrange(1, 40)};
	if ({rng.choice(["n < 0", "kept & 1", "getppid() < 0"])})
		return -1;
	*record = PREFIX_change(*record, kept);
	return (int)(kept & 63);
}}
"""


def make(rng: random.Random, prefix: str) -> tuple[str, list[str]]:
    """Returns functions, and statements that call them and let `r` depend on that; N and TEXT are to be replaced."""
    text, calls = "", []
    forms: list[Callable[[random.Random], str]] = [walker, vector, tree, values]
    for form in rng.sample(forms, rng.choice([1, 1, 2, 3])):
        made = form(rng)
        if form is vector:
            index = "i" if "while (v.count-- > 0)" not in made else "v.count"
            made = made.replace("free(v.item[{}]);", f"free(v.item[{index}]);")
            calls.append("r = PREFIX_names(N, TEXT);")
        elif form is walker:
            at = rng.choice(["sub", ".", "sub/deep", "way", "fixed", "missing", "a"])
            calls.append(f'{{ u64 sum = N; PREFIX_walk("{at}", {rng.randrange(3)}, &sum); r = sum; }}')
        elif form is tree:
            calls.append("r = PREFIX_insert(&PREFIX_T, N, TEXT);")
            calls.append(
                "for (u32 i = 0; i < (u32)N % 20; i++) r ^= PREFIX_insert(&PREFIX_T, (i64)(i * 7 % 11 + (u64)r), TEXT);"
            )
            calls.append("r = PREFIX_fold(PREFIX_T, PREFIX_xor, N);")
            calls.append("if ((N) % 4 == 1) PREFIX_drop(&PREFIX_T);")
        else:
            out = (
                "{ i32 low = 0; i64 high = 0; struct record out = {.key = 3}; r = PREFIX_split(N, &low, &high, &out); "
            )
            calls.append(out + "r = mix(r + low, high + hash_record(&out)); }")
            given = '(struct record){.key = 5, .name = "v"}, N'
            calls.append(f"{{ struct record out = PREFIX_change({given}); r = hash_record(&out); }}")
        text += made
    return text.replace("PREFIX", prefix), [call.replace("PREFIX", prefix) for call in calls]
