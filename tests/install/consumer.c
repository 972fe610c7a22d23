// SPDX-License-Identifier: MIT
/* Stands for a program of somebody else's, built against the installed library. */
#include <cosy/cosy.h>
#include <cosy/fast.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	struct cosy *cosy;
	struct cosy_error error = {0};
	struct cosy_loaded *loaded = NULL;
	long word = 0x1122334455667788;

	if (cosy_init(&cosy))
		return 1;
	const char *why = cosy_native_reason(cosy);
	printf("runs %s%s\n", why ? "natively: " : "in the kernel", why ? why : "");

	/* The load must be refused, with a reason. */
	if (cosy_load(cosy, &word, sizeof(word), &loaded, &error) != -EINVAL || !error.reason[0])
		return 2;

	char *memory = (char *)cosy_malloc(100);
	if (!memory)
		return 3;
	memset(memory, 1, 100);
	if (cosy_count(memory, 100, 1) != 100 || cosy_crc32c(0, "123456789", 9) != 0xe3069283)
		return 4;
	if (cosy_readc(-1) != -1 || errno != EBADF)
		return 5;
	cosy_free(memory);
	cosy_free(cosy);

	long calls = 0;
	COSY_START;
	for (int i = 0; i < 100; i++)
		calls += getpid() > 0;
	COSY_END;
	printf("%ld calls\n", calls);
	return calls != 100;
}
