#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# What the handler of int3 writes: all CPUs can be in the handler at once, so it must not write to a
# cache line that they share. The test reads the code of the kernel in the build tree FTRACE_KERNEL.

use strict;
use warnings;
use Test::More;

my $vmlinux = ($ENV{FTRACE_KERNEL} // '') . '/vmlinux';
plan(skip_all => 'FTRACE_KERNEL names no kernel') if !-f $vmlinux;

my @code = `objdump -d --no-show-raw-insn --disassemble=ftrace_int3_handler "$vmlinux"`;
my @insns = map { /^[0-9a-f]+:\s+(.*\S)/ ? $1 : () } @code;
cmp_ok(scalar @insns, '>', 20, 'the handler was found');

# A locked instruction on the stack is a barrier.
my @locked = grep { /^lock / && !/\(%[re]sp\)/ } @insns;
is_deeply(\@locked, [], 'no atomic instruction on memory');

# A store with an absolute or rip-relative address goes to a variable that all CPUs have.
my @shared = grep { /,0x[0-9a-f]+(?:\(%rip\))?(?:\s|\z)/ && !/\A(?:cmp|test|lea|j|call)/ } @insns;
is_deeply(\@shared, [], 'no store to a variable that is not of this CPU');

done_testing();
