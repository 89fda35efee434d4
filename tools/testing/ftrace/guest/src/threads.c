// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process with threads, for tests of pid filters. It prints its pid, reads commands, one a line,
 * and answers each with a line:
 *
 *	thread	start a thread: its pid
 *	call	each thread makes a call of vfs_read(): "called"
 *	fork	a child process makes a call of vfs_read() and ends: its pid
 *	exec	the thread that was started last executes this program anew, which ends all others:
 *		the pid of the process
 *	quit	end
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MAX_THREADS	16

static char *program;
static int zero;
/* A byte for each call that a thread is to make, and for each that it has made. */
static int todo[MAX_THREADS][2], done[2];
static int nr_threads;

static void check(int bad, const char *what)
{
	if (!bad)
		return;
	fprintf(stderr, "threads: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void say(long number)
{
	printf("%ld\n", number);
	fflush(stdout);
}

static void call(void)
{
	char byte;

	check(read(zero, &byte, 1) != 1, "/dev/zero");
}

static void *work(void *thread)
{
	const int *my = thread;
	char what;

	say(syscall(SYS_gettid));
	while (read(my[0], &what, 1) == 1) {
		if (what == 'e') {
			execl(program, program, NULL);
			check(1, program);
		}
		call();
		check(write(done[1], &what, 1) != 1, "write");
	}
	return NULL;
}

static void start(void)
{
	pthread_t thread;

	check(nr_threads == MAX_THREADS, "too many threads");
	check(pipe(todo[nr_threads]), "pipe");
	errno = pthread_create(&thread, NULL, work, todo[nr_threads]);
	check(errno, "pthread_create");
	nr_threads++;
}

static void call_all(void)
{
	char byte;

	for (int i = 0; i < nr_threads; i++)
		check(write(todo[i][1], "c", 1) != 1, "write");
	for (int i = 0; i < nr_threads; i++)
		check(read(done[0], &byte, 1) != 1, "read");
	call();
	puts("called");
	fflush(stdout);
}

static void fork_once(void)
{
	pid_t pid = fork();

	check(pid < 0, "fork");
	if (!pid) {
		call();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	say(pid);
}

static void exec(void)
{
	check(!nr_threads, "no thread");
	check(write(todo[nr_threads - 1][1], "e", 1) != 1, "write");
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	char line[64];

	program = argv[0];
	check(argc != 1, "usage: threads");
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	check(zero < 0, "/dev/zero");
	check(pipe2(done, O_CLOEXEC), "pipe");
	/* What is in a buffer would be lost by exec. */
	setvbuf(stdin, NULL, _IONBF, 0);
	say(getpid());
	while (fgets(line, sizeof(line), stdin)) {
		if (!strcmp(line, "thread\n"))
			start();
		else if (!strcmp(line, "call\n"))
			call_all();
		else if (!strcmp(line, "fork\n"))
			fork_once();
		else if (!strcmp(line, "exec\n"))
			exec();
		else
			break;
	}
	return 0;
}
