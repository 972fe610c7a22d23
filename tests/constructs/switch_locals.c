// expect: compiled
// Locals that go along into the compound in the middle of a loop (COSY_TIER=N), and pointers into
// them; and locals that stay, since their address is known elsewhere.
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static int wire[2];
static char *known;

/* Fills a pipe with that text. */
static void NOINLINE fill(const char *text)
{
	if (pipe(wire) || write(wire[1], text, strlen(text)) != (ssize_t)strlen(text))
		_exit(9);
	close(wire[1]);
}

/* Has a local of the function's, set before the region and looked at after it. */
static void NOINLINE read_after(int fd)
{
	char text[40] = "----------";
	int length = 3;

	COSY_START;
	while (read(fd, text + length, 1) == 1)
		length++;
	COSY_END;
	close(fd);
	printf("%s %d\n", text, length);
}

/* Has pointers into a local, one past its end, and none, that are alive at the head. */
static void NOINLINE pointers(int fd)
{
	char text[8] = {0}, *next = text, *end = text + sizeof(text), *colon = NULL;
	long found = 0, gaps = 0;

	COSY_START;
	while (next < end && read(fd, next, 1) == 1) {
		next++;
		if (!colon)
			colon = memchr(text, ':', next - text);
		found = found * 10 + (colon ? colon - text : 9);
		gaps += end - next;
	}
	COSY_END;
	close(fd);
	printf("%ld %ld %.8s %ld\n", found, gaps, text, (long)(next - text));
}

/* Has a local that is used only inside the region, as if it were declared there. */
static long NOINLINE inside(int fd)
{
	char block[16], *at = block;
	long sum = 0;

	COSY_START;
	while (read(fd, at, 1) == 1) {
		at = at == block + 7 ? block : at + 1;
		for (const char *p = block; p < at; p++)
			sum = sum * 7 + *p;
	}
	COSY_END;
	close(fd);
	return sum;
}

/* Enters the region twice: the second time finds what the first left in the local. */
static long NOINLINE left_there(int fd)
{
	char block[16];
	long sum = 0;

	for (int turn = 0; turn < 3; turn++) {
		COSY_START;
		if (turn == 0)
			memset(block, 1, sizeof(block));
		for (int i = 0; i < 4; i++) {
			if (read(fd, block + 4 * turn + i, 1) != 1)
				break;
			for (int j = 0; j < 16; j++)
				sum = sum * 3 + block[j];
		}
		COSY_END;
	}
	close(fd);
	return sum;
}

static void NOINLINE remember(char *at)
{
	known = at;
}

/* Has a local whose address is known elsewhere, so that it stays where it is. */
static long NOINLINE escaped(int fd)
{
	char text[16] = {0};
	long sum = 0;

	remember(text);
	COSY_START;
	for (int i = 0; i < 15 && read(fd, text + i, 1) == 1; i++) {
		known[i] += 1;
		sum = sum * 5 + text[i];
	}
	COSY_END;
	close(fd);
	return sum + known[2];
}

/* Has two locals with pointers to each other, and pieces of memory that point to them. */
static long NOINLINE mixed(int fd)
{
	char even[12] = {0}, odd[12] = {0}, *at = even;
	struct iovec pieces[2] = {{even, 2}, {odd, 3}};
	long sum = 0;

	COSY_START;
	for (int i = 0; readv(fd, pieces, 2) == 5; i++) {
		at = i & 1 ? odd + 1 : even;
		*at += i;
		sum = sum * 11 + even[0] + odd[1] + *at;
		pieces[0].iov_base = even + (i & 3);
	}
	COSY_END;
	close(fd);
	return sum;
}

/* Has a loop around the loop that sets the local anew each time. */
static long NOINLINE around(int fd)
{
	long sum = 0;

	COSY_START;
	for (int turn = 0; turn < 4; turn++) {
		char own[8] = {turn, 1, 2};
		char *last = own + turn;

		for (int i = 0; i < 4; i++) {
			if (read(fd, own + 4 + i, 1) != 1)
				goto out;
			sum = sum * 3 + own[0] + own[4 + i] + *last;
		}
	}
out:;
	COSY_END;
	close(fd);
	return sum;
}

int main(void)
{
	for (int turn = 0; turn < 3; turn++) {
		fill("abcdefghi");
		read_after(wire[0]);
		fill("ab:d:fghijkl");
		pointers(wire[0]);
		fill("The quick brown fox");
		printf("%ld\n", inside(wire[0]));
		fill("abcdefghijklm");
		printf("%ld\n", left_there(wire[0]));
		fill("0123456789");
		printf("%ld\n", escaped(wire[0]));
		fill("0123456789012345678901234567890123456789");
		printf("%ld\n", mixed(wire[0]));
		fill("zyxwvutsrqponmlkj");
		printf("%ld\n", around(wire[0]));
	}
	return 0;
}
