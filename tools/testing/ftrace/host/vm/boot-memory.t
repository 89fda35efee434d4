#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# No memory at boot: the core's allocations fail, one in each guest. The kernel has a switch for
# this (failslab=), but only for allocations that may not sleep. So gdb, attached to the emulator,
# skips the call of the allocator; see boot-memory.py. The guest then checks what works. One row of
# guests has the function tracer, the other has all filters that boot parameters can set. The second
# row begins with the filters, and skips the plans, because the first row has tried both.
# FTRACE_BOOT_ROW=tracer or filters: only one row, which takes half the time.

use strict;
use warnings;
use File::Temp qw(tempdir);
use FindBin;
use POSIX 'WNOHANG';
use Storable qw(retrieve store);
use Test::More;
use Time::HiRes 'sleep';

my $root = "$FindBin::Bin/../../../../..";
my $kernel = $ENV{FTRACE_KERNEL} // "$root/build/small";
my $programs = ($ENV{FTRACE_CONSOLE} // "$root/build/try-small/tap/console") =~ s,/tap/.*,,r;
my $image = "$kernel/arch/x86/boot/bzImage";
plan(skip_all => "no $image, or no programs in $programs") if !-e $image || !-d "$programs/guest";
my $dir = tempdir(CLEANUP => 1);

my @rows = (
	{
		name => 'tracer',
		parameters => 'ftrace=function ftrace_filter=vfs_read',
		windows => 'ftrace_init init_function_trace ops_rebuild_early_tramps',
		skip => '',
		least => 20,
	},
	{
		name => 'filters',
		parameters => 'ftrace=function_graph ftrace_filter=vfs_read,ftmod_a_*:mod:ftmod_a ftrace_notrace=vfs_write ' .
			'ftrace_graph_filter=vfs_open stacktrace_filter=vfs_rename',
		windows => 'ftrace_boot_filters ftrace_graph_early_filters init_graph_trace ftrace_set_early_filter',
		skip => 'plan_ ftrace_class_of ftrace_caller_make arch_ftrace_tramp_make',
		least => 20,
	},
);

# boot ROW, NTH: with the allocation NTH failed. Returns what gdb and the guest say, and the guest's
# status.
sub boot {
	my ($row, $nth) = @_;
	my $socket = "$dir/gdb-$nth";

	unlink $socket;
	my $pid = fork // die "fork: $!\n";
	if (!$pid) {
		open STDOUT, '>', "$dir/said-$nth" or die "$dir: $!\n";
		open STDERR, '>&', \*STDOUT or die "$dir: $!\n";
		# An event switches the startup tests off, which need all filters to be empty.
		exec "$root/tools/vm/guest", '-k', $image, '-c', 1, '-d', "$programs/guest", '-M', "$programs/modules",
			'-l', "$dir/console-$nth", '-t', 300, '-a', $row->{parameters},
			'-a', 'nokaslr kunit.enable=0 trace_event=initcall:initcall_level', '-q', '-S', '-q', '-gdb',
			'-q', "unix:$socket,server=on,wait=off", '/host/guest/boot-memory.sh' or die "guest: $!\n";
	}
	my $ended = 0;
	while (!-S $socket && !$ended) {
		sleep 0.1;
		$ended = waitpid $pid, WNOHANG;
	}
	local ($ENV{WINDOWS}, $ENV{SKIP}) = ($row->{windows}, $row->{skip});
	my $gdb = "timeout 120 gdb -nx -batch -ex 'set confirm off' -ex 'set \$nth = $nth'" .
		" -ex 'target remote $socket' -x '$FindBin::Bin/boot-memory.py' '$kernel/vmlinux' 2>&1";
	my $told = $ended ? 'the emulator did not start' : `$gdb`;
	waitpid $pid, 0 if !$ended;
	my $status = $? >> 8;
	open my $in, '<', "$dir/said-$nth" or die "$dir: $!\n";
	local $/ = undef;
	my $said = <$in>;
	close $in;
	return $told, $said, $status;
}

# boots ROW, NTH...: the same for several guests side by side.
sub boots {
	my ($row, @nth) = @_;
	my @pids;

	for my $n (@nth) {
		my $pid = fork // die "fork: $!\n";
		if (!$pid) {
			store([boot($row, $n)], "$dir/result-$n");
			POSIX::_exit(0);
		}
		push @pids, $pid;
	}
	waitpid $_, 0 for @pids;
	return map { [$_, @{retrieve("$dir/result-$_")}] } @nth;
}

# try_row ROW: until all allocations were tried; then nothing fails. Returns how many there were.
sub try_row {
	my ($row) = @_;
	my ($n, $more, @results) = (0, 1);

	while ($more) {
		@results = boots($row, $n + 1, $n + 2) if !@results;
		my ($gdb, $said, $status);
		($n, $gdb, $said, $status) = @{shift @results};
		my ($fails) = $gdb =~ /^fails: (.*)/m;
		$more = defined $fails;
		my $what = "$row->{name}, allocation $n: " . ($fails // 'there are no more');
		if (!like($gdb, qr/^(fails|allocations): /m, $what)) {
			diag($gdb, $said);
			last;
		}
		if ($more && $fails =~ /for mm_alloc/) {
			# Without this mm text cannot be patched at all.
			is($status, 125, "$what: the guest stops");
			like($gdb, qr/^panic: ftrace: no memory for the mm to patch text in$/m, "$what: the guest says why") or
				diag($gdb);
		} else {
			is($status, 0, "$what: the guest goes on");
			unlike($said, qr/^not ok|^Bail out/m, "$what: the guest said what does not work") or diag($said);
		}
	}
	return $n - 1;
}

my $points = 0;
my $only = $ENV{FTRACE_BOOT_ROW};
for my $row (grep { !defined $only || $_->{name} eq $only } @rows) {
	my $tried = try_row($row);

	cmp_ok($tried, '>=', $row->{least}, "$row->{name}: there are many allocations");
	$points += $tried;
}
diag("$points allocations failed, one in each guest");
done_testing();
