#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Modules of others, built against the small kernel. What the core does not have must fail to
# compile, not to load; what it has must link.

set -u

# shellcheck source=tools/testing/ftrace/host-tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../host-tap.sh"
kernel=$("$root/scripts/build-dir")/small
document=$root/Documentation/trace/ftrace-core.rst

[ -f "$kernel/Module.symvers" ] || {
	echo '1..0 # SKIP no build/small'
	exit
}

# module LINE...: a module with these lines in its init function. The compiler's messages are in
# $work/log.
module()
{
	rm -rf "$work/module"
	mkdir "$work/module"
	echo 'obj-m := outside.o' >"$work/module/Makefile"
	{
		echo '#include <linux/ftrace.h>'
		echo '#include <linux/module.h>'
		echo 'static void callback(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,'
		echo '		     struct ftrace_regs *fregs) { }'
		echo 'static struct ftrace_ops ops __maybe_unused = { .func = callback };'
		echo 'static int __init outside_init(void)'
		echo '{'
		printf '	%s\n' "$@"
		echo '	return 0;'
		echo '}'
		echo 'module_init(outside_init);'
		echo 'MODULE_LICENSE("GPL");'
		echo 'MODULE_DESCRIPTION("A module of others");'
	} >"$work/module/outside.c"
	make -C "$kernel" "M=$work/module" modules >"$work/log" 2>&1
}

# compiles LINE...
compiles()
{
	module "$@" || { cat "$work/log"; return 1; }
}

# refused NAME: the compiler does not know the name.
refused()
{
	! module "(void)&$1;" && grep -E "error: .*$1.* undeclared" "$work/log" && return
	cat "$work/log"
	return 1
}

ok "ops with a filter" compiles 'ftrace_set_filter(&ops, "vfs_read", 8, 1);' \
	'register_ftrace_function(&ops);' 'unregister_ftrace_function(&ops);' 'ftrace_free_filter(&ops);'
ok "a filter by addresses" compiles 'ftrace_set_filter_ip(&ops, 0, 1, 0);' 'ftrace_set_notrace(&ops, "x", 1, 0);'
ok "a direct caller" compiles 'register_ftrace_direct(&ops, 0);' 'modify_ftrace_direct(&ops, 0);' \
	'unregister_ftrace_direct(&ops, 0, true);'

# The names of the table "What is gone"; a name that "and" follows stands for a family.
names=$(sed -n '/^What is gone$/,/^Locks$/p' "$document" | cut -c1-41 | grep -oE '[a-z_]+\(\)|ftrace_ops_list' |
	tr -d '()' | sort -u)
ok "the document names some" [ "$(echo "$names" | wc -l)" -ge 8 ]
for name in $names ftrace_rec_iter_next ftrace_rec_iter_record; do
	ok "$name does not compile" refused "$name"
done
plan
