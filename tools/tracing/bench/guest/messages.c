// SPDX-License-Identifier: GPL-2.0-only
/*
 * messages: the load of hackbench in small. Groups of senders and receivers, each sender with a socket to each receiver of its
 * group, and the time until all messages have arrived: system calls, wake-ups and context switches.
 *
 * usage: messages NAME GROUPS LOOPS; prints one line as benchio does.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define PEERS	8
#define SIZE	100

static void check(int bad, const char *what)
{
	if (bad) {
		perror(what);
		exit(1);
	}
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void wait_for(int go)
{
	char c;

	check(read(go, &c, 1) < 0, "start");
}

static void send_all(int go, int (*pairs)[2], int loops)
{
	static char data[SIZE];
	int i, j;

	wait_for(go);
	for (i = 0; i < loops; i++) {
		for (j = 0; j < PEERS; j++)
			check(write(pairs[j][1], data, SIZE) != SIZE, "write");
	}
	exit(0);
}

static void receive_all(int go, int fd, int count)
{
	char data[SIZE];
	int got = 0;

	wait_for(go);
	while (got < count * SIZE) {
		ssize_t n = read(fd, data, SIZE);

		check(n <= 0, "read");
		got += n;
	}
	exit(0);
}

int main(int argc, char **argv)
{
	int groups, loops, g, i, status, bad = 0, start[2];
	int pairs[PEERS][2];
	uint64_t ns, ticks;

	if (argc != 4) {
		fputs("usage: messages NAME GROUPS LOOPS\n", stderr);
		return 2;
	}
	groups = atoi(argv[2]);
	loops = atoi(argv[3]);
	check(pipe(start), "pipe");
	for (g = 0; g < groups; g++) {
		for (i = 0; i < PEERS; i++)
			check(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]), "socketpair");
		for (i = 0; i < 2 * PEERS; i++) {
			pid_t pid = fork();

			check(pid < 0, "fork");
			if (pid)
				continue;
			close(start[1]);
			if (i < PEERS)
				receive_all(start[0], pairs[i][0], PEERS * loops);
			send_all(start[0], pairs, loops);
		}
		for (i = 0; i < PEERS; i++) {
			close(pairs[i][0]);
			close(pairs[i][1]);
		}
	}
	usleep(50000);
	ns = now();
	ticks = __rdtsc();
	/* All wait for the end of this pipe. */
	close(start[1]);
	while (wait(&status) > 0)
		bad |= status;
	ticks = __rdtsc() - ticks;
	ns = now() - ns;
	check(bad, "a sender or receiver failed");
	printf("%s %d %llu %llu %llu\n", argv[1], groups * loops * PEERS * PEERS,
	       (unsigned long long)ticks, (unsigned long long)ns, (unsigned long long)ticks);
	return 0;
}
