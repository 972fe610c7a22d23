// SPDX-License-Identifier: MIT
/* wordfreq.c - counts how often each word is in COUNT KB of the log, by a hash table in malloc memory. */
#include "process.h"

#define LISTS 1024
#define WORDS 20000

struct word {
	struct word *next;
	unsigned int count, hash;
	char text[24];
};

static struct word *lists[LISTS], *words;
static unsigned int used;

static void count_word(const char *text, unsigned int length, unsigned int hash)
{
	struct word *word;

	for (word = lists[hash % LISTS]; word; word = word->next)
		if (word->hash == hash && !strcmp(word->text, text)) {
			word->count++;
			return;
		}
	if (used == WORDS)
		return;
	word = &words[used++];
	memcpy(word->text, text, length + 1);
	word->hash = hash;
	word->count = 1;
	word->next = lists[hash % LISTS];
	lists[hash % LISTS] = word;
}

int main(int argc, char **argv)
{
	int fd = process_open(argv[1], "log", O_RDONLY);
	long count = argc > 2 ? atol(argv[2]) : 0;
	unsigned int length = 0, hash = 5381, most = 0, sum = 0;
	char buffer[1024], text[24];

	words = calloc(WORDS, sizeof(*words));
	if (!words)
		return 1;
	COSY_START;
	for (long k = 0; k < count; k++) {
		ssize_t got = read(fd, buffer, sizeof(buffer));

		if (got <= 0)
			break;
		for (ssize_t i = 0; i < got; i++) {
			char c = buffer[i];

			if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
				if (length < sizeof(text) - 1) {
					text[length++] = c;
					hash = hash * 33 + c;
				}
			} else if (length) {
				text[length] = 0;
				count_word(text, length, hash);
				length = 0;
				hash = 5381;
			}
		}
	}
	COSY_END;
	for (unsigned int i = 0; i < used; i++) {
		sum += words[i].count;
		if (words[i].count > words[most].count)
			most = i;
	}
	printf("%u words, %u different, most often: %s\n", sum, used, used ? words[most].text : "");
	return 0;
}
