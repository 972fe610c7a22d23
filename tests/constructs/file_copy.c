// SPDX-License-Identifier: MIT
// The copy loop, with short writes taken care of.
// expect: compiled
#include <cosy/cosy.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long copy(const char *from, const char *to)
{
	char buf[1000];
	long total = 0;

	COSY_START;
	int in = open(from, O_RDONLY);
	if (in < 0)
		return -1;
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (out < 0) {
		close(in);
		return -2;
	}
	ssize_t n;
	while ((n = read(in, buf, sizeof(buf))) > 0) {
		ssize_t done = 0;
		while (done < n) {
			ssize_t w = write(out, buf + done, n - done);
			if (w < 0) {
				total = -3;
				goto out;
			}
			done += w;
		}
		total += n;
	}
out:
	close(in);
	close(out);
	COSY_END;
	return total;
}

int main(void)
{
	char from[] = "/tmp/cosy-copy-XXXXXX", to[] = "/tmp/cosy-copy-XXXXXX";
	static unsigned char data[12345], back[20000];
	int in = mkstemp(from), out = mkstemp(to);

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = i * 7;
	if (write(in, data, sizeof(data)) != sizeof(data))
		return 1;
	printf("%ld %ld %ld\n", copy(from, to), copy("/nonexistent", to),
	       copy(from, "/nonexistent/x"));
	ssize_t n = read(out, back, sizeof(back));
	printf("%zd %d\n", n, memcmp(data, back, sizeof(data)));
	unlink(from);
	unlink(to);
	return 0;
}
