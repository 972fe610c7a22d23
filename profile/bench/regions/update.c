// SPDX-License-Identifier: MIT
/* update.c - writes the records of a file that have changed, and only those: update FILE REPORTS */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct device {
	uint32_t id;
	uint32_t state;
	char firmware[24];
	char place[32];
};

static void device_report(struct device *device, uint32_t id, uint32_t time)
{
	memset(device, 0, sizeof(*device));
	device->id = id;
	device->state = (id + time / 16384) % 5;
	memcpy(device->firmware, id % 3 ? "2.4.17" : "2.5.0", 6);
	memcpy(device->place, "hall", 4);
}

int main(int argc, char **argv)
{
	int reports = argc == 3 ? atoi(argv[2]) : 0, fd = reports ? open(argv[1], O_RDWR) : -1;
	struct device known, device;
	uint32_t random = 7, devices;
	long changed = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		perror("update");
		return 1;
	}
	devices = st.st_size / sizeof(known);
	for (int i = 0; i < reports; i++) {
		uint32_t id;

		random = random * 1103515245 + 12345;
		id = (random >> 8) % devices;
		device_report(&device, id, i);
		if (pread(fd, &known, sizeof(known), (off_t)id * sizeof(known)) != sizeof(known))
			return 1;
		if (!memcmp(&known, &device, sizeof(device)))
			continue;
		if (pwrite(fd, &device, sizeof(device), (off_t)id * sizeof(device)) !=
		    sizeof(device))
			return 1;
		changed++;
	}
	printf("%ld of %d changed\n", changed, reports);
	return 0;
}
