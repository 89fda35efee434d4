// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cgroup that gives a process a share of the CPUs. When the share is used up, the scheduler takes
 * all threads of the process off their CPUs until the next period, also in the middle of a change.
 *
 * Nothing else on the machine is changed: the cgroup is made below the root of the hierarchy, and
 * deleted when the process has ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "poke.h"

#define PERIOD_US	10000UL

/* Where the controller of CPUs may be: version 2, and version 1. */
static const struct {
	const char	*root, *share;
	bool		v2;
} hierarchies[] = {
	{ "/sys/fs/cgroup", "cpu.max", true },
	{ "/sys/fs/cgroup/unified", "cpu.max", true },
	{ "/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", false },
};

static char group[64];

static bool write_file(const char *name, const char *text)
{
	char path[128];
	bool done;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", group, name);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return false;
	done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return done;
}

static bool set_share(bool v2, unsigned long quota_us)
{
	char text[64];

	if (v2) {
		snprintf(text, sizeof(text), "%lu %lu", quota_us, PERIOD_US);
		return write_file("cpu.max", text);
	}
	snprintf(text, sizeof(text), "%lu", PERIOD_US);
	if (!write_file("cpu.cfs_period_us", text))
		return false;
	snprintf(text, sizeof(text), "%lu", quota_us);
	return write_file("cpu.cfs_quota_us", text);
}

/* Returns false if this process may not make such a cgroup. */
bool throttle_begin(int pid, double cpus)
{
	unsigned long quota_us = cpus * PERIOD_US;
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	for (unsigned int i = 0; i < sizeof(hierarchies) / sizeof(*hierarchies); i++) {
		snprintf(group, sizeof(group), "%s/poke-%d", hierarchies[i].root, pid);
		if (mkdir(group, 0755))
			continue;
		if (set_share(hierarchies[i].v2, quota_us < 1000 ? 1000 : quota_us) &&
		    write_file("cgroup.procs", text))
			return true;
		rmdir(group);
	}
	return false;
}

/* The process has ended. Returns how many times it was throttled. */
u64 throttle_end(void)
{
	unsigned long long times = 0;
	char path[128], line[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/cpu.stat", group);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "nr_throttled %llu", &times) == 1)
			break;
	if (file)
		fclose(file);
	/* The last thread may still be on its way out. */
	for (int tries = 0; rmdir(group) && errno == EBUSY && tries < 100; tries++)
		usleep(10000);
	return times;
}
