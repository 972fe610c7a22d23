// SPDX-License-Identifier: MIT
// fork between regions: parent and child both go on with theirs.
// expect: compiled
// guest: static
#include <cosy/cosy.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(int *data, int by)
{
	int sum = 0;

	COSY_START;
	for (int i = 0; i < 10; i++) {
		data[i] += by;
		sum = sum * 3 + data[i] + (getpid() > 0);
	}
	COSY_END;
	return sum;
}

int main(void)
{
	int data[10] = {1, 2, 3}, status;
	int before = work(data, 1);

	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		printf("child %d\n", work(data, 10));
		fflush(stdout);
		_exit(7);
	}
	waitpid(child, &status, 0);
	printf("parent %d %d %d\n", before, work(data, 2), WEXITSTATUS(status));
	return 0;
}
