#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# A guest records in memory that a reset leaves alone, shows what it has, and is reset in the middle of it. What the
# next kernel shows is compared with that, call by call; then it is told to forget it.

use strict;
use warnings;
use File::Path 'make_path';
use File::Temp 'tempdir';
use FindBin;
use POSIX 'WNOHANG';
use Test::More;

my $root = "$FindBin::Bin/../../../../..";
my $kernel = $ENV{FTRACE_KERNEL} // "$root/build/small";
plan(skip_all => "$kernel has no flight recorder") if system "grep -qs '^CONFIG_FTRACE_FLIGHT=y' '$kernel/.config'";
my $dir = tempdir(CLEANUP => 1);
make_path("$dir/reset");
open my $script, '>', "$dir/reset/boot.sh" or die "boot.sh: $!\n";
print {$script} <<'END';
#!/bin/sh
exec >/dev/console 2>&1
# No message of the kernel in the middle of a line.
echo 1 > /proc/sys/kernel/printk
T=/sys/kernel/tracing/instances/box
show()
{
	sed -n 's/^ *\(.*\)-\([0-9]*\) *\[\([0-9]*\)\] [^ ]* *\([0-9.]*\): \(.*\)$/'"$1"': \2 \3 \4 \5/p' $T/trace
}
t=$(cat $T/current_tracer)
echo "the tracer of box is $t"
case $t in
nop)
	# The second time, or the first.
	[ "$(cat /sys/kernel/tracing/options/$OPTION)" = 1 ] || echo 1 > /sys/kernel/tracing/options/$OPTION
	echo 'vfs_* do_sys*' > $T/set_ftrace_filter
	echo flight > $T/current_tracer
	echo 1 > $T/snapshot && echo "there is a snapshot"
	for i in 1 2 3; do ls -R /sys/kernel/tracing/events/sched; done > /dev/null
	echo "MARK" > /sys/kernel/tracing/trace_marker
	echo 0 > $T/tracing_on
	show before
	echo b > /proc/sysrq-trigger
	;;
flight)
	show after
	echo 1 > $T/tracing_on
	ls /proc > /dev/null
	echo "later calls: $(show more | wc -l)"
	echo > $T/trace
	echo "cleared, $(show more | wc -l)"
	echo nop > $T/current_tracer
	echo flight > $T/current_tracer
	echo 'vfs_*' > $T/set_ftrace_filter
	cat /proc/version > /dev/null
	echo "new calls: $(show now | grep -c ' vfs_read ')"
	;;
esac
echo "the end"
sleep 100
END
close $script or die "boot.sh: $!\n";

sub console {
	open my $in, '<', "$dir/console" or return;
	my @lines = <$in>;
	close $in or die "console: $!\n";
	s/\r?\n$// for @lines;
	return @lines;
}

# boot CPUS, MEMORY, OPTION: what a guest says that boots, is reset, and boots again.
sub boot {
	my ($cpus, $memory, $option) = @_;
	my @command = ('setsid', "$root/tools/vm/guest", '-k', "$kernel/arch/x86/boot/bzImage", '-c', $cpus, '-d', "$dir/reset", '-l', "$dir/console",
		'-t', 200, '-a', "reserve_mem=2M:4096:mem trace_flight_keep=box\@$memory kunit.enable=0", map({ ('-q', $_) } qw(-action reboot=reset)),
		'/host/reset/run.sh');

	system "sed 's/\$OPTION/$option/' $dir/reset/boot.sh > $dir/reset/run.sh; chmod +x $dir/reset/run.sh";
	unlink "$dir/console";
	my $pid = open my $guest, '-|', @command or die "guest: $!\n";
	sleep 1 until grep({ /^the end/ } console()) || waitpid($pid, WNOHANG);
	kill 'TERM', -$pid;
	close $guest or note("the guest was stopped");
	return console();
}

for my $option ('func_stack_trace', 'flight-time') {
	my @lines = boot(2, 'mem', $option);
	my @before = map { /before: (.*)/ ? $1 : () } @lines;
	my @after = map { /after: (.*)/ ? $1 : () } @lines;
	cmp_ok(scalar @before, '>', 1000, "$option: many calls were made") or diag(@lines[-30 .. -1]);
	is(scalar @after, scalar @before, '  as many are found');
	# task, CPU, time, function and caller
	my @calls = map { [ map { [ split / /, $_, 4 ] } @$_ ] } \@before, \@after;
	my ($differ) = grep { "@{$calls[0][$_]}[0, 1, 3]" ne "@{$calls[1][$_] // []}[0, 1, 3]" } 0 .. $#before;
	is($differ, undef, '  the same ones: tasks, CPUs, functions and callers') or diag("$before[$differ], ", $after[$differ] // '');
	is(scalar(grep { $calls[1][$_][2] < $calls[1][$_ - 1][2] } 1 .. $#after), 0, '  in order');
	# A guest does not know its time stamp counter well.
	my ($took, $takes) = map { $_->[-1][2] - $_->[0][2] } @calls;
	ok($takes > $took / 2 && $takes < $took * 2, '  they take as long') or diag("$took, $takes");
	my $said = join "\n", @lines;
	like($said, qr/tracer of box is nop.*tracer of box is flight/s, '  the tracer shows them, once');
	unlike($said, qr/there is a snapshot/, '  there are no snapshots');
	like($said, qr/^later calls: ${\scalar @before}$/m, '  nothing is recorded meanwhile');
	like($said, qr/^cleared, 0$/m, '  they are forgotten');
	like($said, qr/^new calls: [1-9]/m, '  the tracer records anew');
}
like(join("\n", boot(1, 'nothing', 'func_stack_trace')), qr/trace_flight_keep: there is no such memory/, 'memory that is not reserved is refused');
done_testing();
