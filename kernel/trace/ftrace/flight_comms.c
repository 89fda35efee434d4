// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of tasks of the last kernel. A record has the number of a task only, and this kernel gives
 * the number to another one. So names are written beside rings that outlive the kernel, in a table
 * by numbers: of tasks that have the same place there, it has the one that has run last.
 */
#include <linux/ftrace_arch.h>
#include <linux/ftrace_flight.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "flight.h"

/* Somebody writes it. The number of a task is a positive int. */
#define COMM_BUSY	U32_MAX

static struct ftrace_flight_comm *comm_of(u32 pid)
{
	return &ftrace_flight_keep_comms()[pid % FTRACE_FLIGHT_COMMS];
}

/**
 * ftrace_flight_comms_note - a task runs, or gets another name
 * @flight: a recorder
 * @pid: the task
 * @comm: its name
 *
 * Context: Any context, preemption off. While a name is written, others of its place are left out.
 */
void ftrace_flight_comms_note(const struct ftrace_flight *flight, u32 pid, const char *comm)
{
	struct ftrace_flight_comm *c;

	/* All idle tasks have the number 0. */
	if (!flight->persistent || !pid)
		return;
	c = comm_of(pid);
	/* Another CPU may write: then it is another name. */
	if (READ_ONCE(c->pid) == pid && !data_race(strncmp(c->comm, comm, TASK_COMM_LEN)))
		return;
	if (xchg(&c->pid, COMM_BUSY) == COMM_BUSY)
		return;
	strscpy_pad(c->comm, comm);
	/* The next kernel finds the name if it finds the number. */
	smp_store_release(&c->pid, pid);
}

/* The name of a task of the last kernel. Any context. */
void ftrace_flight_last_comm(u32 pid, char comm[TASK_COMM_LEN])
{
	const struct ftrace_flight_comm *c = comm_of(pid);

	if (!pid)
		strscpy(comm, "<idle>", TASK_COMM_LEN);
	else if (c->pid == pid)
		strscpy(comm, c->comm, TASK_COMM_LEN);
	else
		strscpy(comm, "<...>", TASK_COMM_LEN);
}
