// SPDX-License-Identifier: GPL-2.0-only
/* What the kernel prints, warns of, and dies of. */
#include <linux/bug.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kern_levels.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "native.h"

void native_unreached(const char *name);

unsigned int native_warnings;
bool native_quiet;

/* A line is written at once, because another thread may write meanwhile. */
static void report(bool line, const char *fmt, va_list args)
{
	char text[1024];
	int len = vscnprintf(text, sizeof(text) - 1, fmt, args);

	if (line && (!len || text[len - 1] != '\n'))
		text[len++] = '\n';
	host_write(text, len);
}

static char log[1 << 14];
static size_t log_len;

void native_log_begin(void)
{
	host_lock();
	log_len = 0;
	log[0] = 0;
	host_unlock();
}

bool native_log_has(const char *text)
{
	bool has;

	host_lock();
	has = strstr(log, text);
	host_unlock();
	return has;
}

int _printk(const char *fmt, ...)
{
	bool end = printk_get_level(fmt) != 'c';
	va_list args;

	fmt = printk_skip_headers(fmt);
	va_start(args, fmt);
	host_lock();
	log_len += vscnprintf(log + log_len, sizeof(log) - log_len, fmt, args);
	host_unlock();
	va_end(args);
	if (native_quiet)
		return 0;
	/* A message is a line, whether it says so or not. */
	va_start(args, fmt);
	report(end, fmt, args);
	va_end(args);
	return 0;
}

void __warn_printk(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report(false, fmt, args);
	va_end(args);
}

void native_print_symbol(const char *what, unsigned long addr)
{
	char line[KSYM_SYMBOL_LEN + 32];

	snprintf(line, sizeof(line), "# %s %pS\n", what, (void *)addr);
	host_write(line, strlen(line));
}

void native_backtrace(void)
{
	void *stack[64];
	int nr = host_stack(stack, ARRAY_SIZE(stack));
	char line[KSYM_SYMBOL_LEN + 8];

	for (int i = 0; i < nr; i++) {
		snprintf(line, sizeof(line), "#   %pS\n", stack[i]);
		host_write(line, strlen(line));
	}
}

void native_fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report(true, fmt, args);
	va_end(args);
	host_abort();
}

unsigned int native_window_fails;

void panic(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report(false, fmt, args);
	va_end(args);
	if (native_window_fails) {
		native_text_end();
		host_exit(0);
	}
	host_abort();
}

/* The entries that WARN_ON() and BUG_ON() leave. */
extern struct bug_entry __start_native_bugs[], __stop_native_bugs[];

static struct bug_entry *bug_find(unsigned long ip)
{
	for (struct bug_entry *bug = __start_native_bugs; bug < __stop_native_bugs; bug++)
		if ((unsigned long)&bug->bug_addr_disp + bug->bug_addr_disp == ip)
			return bug;
	return NULL;
}

int native_bug(struct host_regs *regs)
{
	struct bug_entry *bug = bug_find(regs->ip);

	if (!bug)
		return 0;
	if (!(bug->flags & BUGFLAG_WARNING))
		native_fail("BUG at %pS", (void *)regs->ip);
	regs->ip += LEN_UD2;
	if (bug->flags & BUGFLAG_ONCE) {
		if (bug->flags & BUGFLAG_DONE)
			return 1;
		bug->flags |= BUGFLAG_DONE;
	}
	native_warnings++;
	/* Else nobody sees it. */
	if (native_quiet)
		native_fail("WARNING: %s:%u", (const char *)&bug->file_disp + bug->file_disp,
			    bug->line);
	printk("WARNING: %s:%u\n", (const char *)&bug->file_disp + bug->file_disp, bug->line);
	native_backtrace();
	return 1;
}

/* A function that no shim stands for; see unreached. */
void __visible __noreturn native_unreached(const char *name)
{
	native_fail("%s() is called, which has no shim: write one in shim/, and delete the name in unreached",
		    name);
}
