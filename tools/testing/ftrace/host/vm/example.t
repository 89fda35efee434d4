#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# The example of README.md, as "make run" types it: on the kernel FTRACE_KERNEL.

use strict;
use warnings;
use FindBin;
use Test::More;

my $root = "$FindBin::Bin/../../../../..";
my $kernel = $ENV{FTRACE_KERNEL} // "$root/build/small";
my $image = "$kernel/arch/x86/boot/bzImage";
plan(skip_all => "no $image") if !-e $image;

my $said = `'$root/tools/vm/example' '$root/README.md' -k '$image' 2>&1`;
is($? >> 8, 0, 'the example ends well') or diag($said);
unlike($said, qr/can't|No such file/, 'each command finds its files');
like($said, qr/^The trace holds \d+ functions, all of them 'vfs_\*'/m, 'the trace has what was asked for');
done_testing();
