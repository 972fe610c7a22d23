// SPDX-License-Identifier: MIT
// Output in some rounds of loops with objects: destructors run once on every way, and what the output
// throws is caught where it would be.
// expect: compiled
#include <cosy/cosy.h>
#include <cstdio>
#include <fcntl.h>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

static int alive;

/* A descriptor, closed at the end of its scope. */
class File
{
      public:
	int fd;

	explicit File(const char *name) : fd(open(name, O_RDONLY))
	{
		alive++;
	}
	~File()
	{
		if (fd >= 0)
			close(fd);
		alive--;
	}
	File(const File &) = delete;
	File &operator=(const File &) = delete;
};

/* Throws for some; not part of a region, since it prints. */
__attribute__((noinline)) static int tell(const char *name, int value)
{
	printf("%s: %d, %d alive\n", name, value, alive);
	if (value % 4 == 3)
		throw std::runtime_error(name);
	return value * 2;
}

static const char *const names[] = {"/", "/nonexistent", ".", "/dev/null"};

static long files(int rounds)
{
	long sum = 0;

	COSY_START;
	for (int i = 0; i < rounds; i++) {
		File file(names[i % 4]);
		struct stat st;

		if (fstat(file.fd, &st) < 0) {
			sum += tell("fstat", i);
			continue;
		}
		for (int j = 0; j < 3; j++) {
			File again(names[(i + j) % 4]);

			if (again.fd < 0) {
				sum += tell("again", i + j);
				if (sum > 300)
					return -sum;
				break;
			}
			sum += S_ISDIR(st.st_mode) ? 3 : 1;
		}
		sum++;
	}
	COSY_END;
	return sum;
}

static long caught(int rounds)
{
	try {
		return files(rounds);
	} catch (const std::runtime_error &error) {
		printf("caught %s\n", error.what());
		return -1;
	}
}

int main()
{
	for (int rounds = 0; rounds < 12; rounds++) {
		long sum = caught(rounds);

		printf("%d: %ld, %d alive\n", rounds, sum, alive);
	}
	return alive;
}
