#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# No memory at boot: the core's allocations fail, one in each guest. The kernel has a switch for
# this (failslab=), but only for allocations that may not sleep. So gdb, attached to the emulator,
# skips the call of the allocator; see boot-memory.py. The guest then judges what works.

use strict;
use warnings;
use File::Temp qw(tempdir);
use FindBin;
use POSIX 'WNOHANG';
use Storable qw(retrieve store);
use Test::More;
use Time::HiRes 'sleep';

my $root = "$FindBin::Bin/../../../..";
my $kernel = $ENV{FTRACE_KERNEL} // "$root/build/small";
my $programs = ($ENV{FTRACE_CONSOLE} // "$root/build/try-small/tap/console") =~ s,/tap/[^/]*$,,r;
my $image = "$kernel/arch/x86/boot/bzImage";
plan(skip_all => "no $image, or no programs in $programs") if !-e $image || !-d "$programs/guest";
my $dir = tempdir(CLEANUP => 1);

# boot NTH: with the allocation NTH failed. Returns what gdb and the guest say, and the guest's status.
sub boot {
	my ($nth) = @_;
	my $socket = "$dir/gdb-$nth";

	my $pid = fork // die "fork: $!\n";
	if (!$pid) {
		open STDOUT, '>', "$dir/said-$nth" or die "$dir: $!\n";
		open STDERR, '>&', \*STDOUT or die "$dir: $!\n";
		# An event switches the startup tests off, which need all filters to be empty.
		exec "$root/tools/vm/guest", '-k', $image, '-c', 1, '-d', "$programs/guest", '-M', "$programs/modules",
			'-l', "$dir/console-$nth", '-t', 300, '-a', 'ftrace=function ftrace_filter=vfs_read',
			'-a', 'nokaslr kunit.enable=0 trace_event=initcall:initcall_level', '-q', '-S', '-q', '-gdb',
			'-q', "unix:$socket,server=on,wait=off", '/host/guest/boot-memory.sh' or die "guest: $!\n";
	}
	my $ended = 0;
	while (!-S $socket && !$ended) {
		sleep 0.1;
		$ended = waitpid $pid, WNOHANG;
	}
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

# boots NTH...: the same for several guests side by side.
sub boots {
	my @nth = @_;
	my @pids;

	for my $n (@nth) {
		my $pid = fork // die "fork: $!\n";
		if (!$pid) {
			store([boot($n)], "$dir/result-$n");
			POSIX::_exit(0);
		}
		push @pids, $pid;
	}
	waitpid $_, 0 for @pids;
	return map { [$_, @{retrieve("$dir/result-$_")}] } @nth;
}

# Until all were tried: then nothing fails.
my ($n, $more, @results) = (0, 1);
while ($more) {
	@results = boots($n + 1, $n + 2) if !@results;
	my ($gdb, $said, $status);
	($n, $gdb, $said, $status) = @{shift @results};
	my ($fails) = $gdb =~ /^fails: (.*)/m;
	$more = defined $fails;
	if (!like($gdb, qr/^(fails|allocations): /m, "allocation $n: " . ($fails // 'there are no more'))) {
		diag($gdb, $said);
		last;
	}
	if ($more && $fails =~ /for mm_alloc/) {
		# Without this mm text cannot be patched at all.
		is($status, 125, '  the guest stops');
		like($gdb, qr/^panic: ftrace: no memory for the mm to patch text in$/m, '  and says why') or diag($gdb);
	} else {
		is($status, 0, '  the guest goes on');
		unlike($said, qr/^not ok|^Bail out/m, '  and said what does not work') or diag($said);
	}
}
cmp_ok($n, '>', 20, 'there are many allocations');
done_testing();
