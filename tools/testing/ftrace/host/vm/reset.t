#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# A guest records in memory that a reset leaves alone, shows what it has, and is reset in the middle of it. What the
# next kernel shows is compared with that, call by call; then it is told to forget it. A module is elsewhere by then.

use strict;
use warnings;
use File::Copy;
use File::Path 'make_path';
use File::Temp 'tempdir';
use FindBin;
use POSIX 'WNOHANG';
use Test::More;

my $root = "$FindBin::Bin/../../../../..";
my $kernel = $ENV{FTRACE_KERNEL} // "$root/build/small";
my $modules = ($ENV{FTRACE_CONSOLE} // "$root/build/try-small/tap/console") =~ s,/tap/.*,/modules,r;
plan(skip_all => "$kernel has no flight recorder") if system "grep -qs '^CONFIG_FTRACE_FLIGHT=y' '$kernel/.config'";
my $dir = tempdir(CLEANUP => 1);
make_path("$dir/reset");
my $program = !system 'pkg-config --exists libtracefs zlib';
system "make -s -C $root/tools/tracing/flight O=$dir/reset STATIC=1 > $dir/log 2>&1" if $program;
copy("$modules/$_.ko", "$dir/reset") or die "$modules/$_.ko: $!\n" for qw(ftmod_a ftmod_spin);
open my $script, '>', "$dir/reset/boot.sh" or die "boot.sh: $!\n";
print {$script} <<'END';
#!/bin/sh
exec >/dev/console 2>&1
# No message of the kernel in the middle of a line.
echo 1 > /proc/sys/kernel/printk
O=/sys/kernel/tracing/options
T=/sys/kernel/tracing/instances/flight
show()
{
	sed "s/^/$1: /" $T/trace
}
at()
{
	sed -n 's/^ftmod_a .*\(0x\)/ftmod_a is at \1/p' /proc/modules
}
t=$(cat $T/current_tracer)
echo "the tracer of flight is $t"
cd /host/reset
case $t in
nop)
	insmod ftmod_a.ko
	for option in $OPTIONS; do
		echo 1 > $O/$option
	done
	echo 'vfs_* do_sys* ftmod_*' > $T/set_ftrace_filter
	echo flight > $T/current_tracer
	echo 1 > $T/snapshot && echo "there is a snapshot"
	cat /proc/version > /dev/null
	echo > $T/trace
	echo nest 3 > /sys/module/ftmod_a/parameters/call
	for i in 1 2 3; do ls -R /sys/kernel/tracing/events/sched; done > /dev/null
	at
	show before
	# stty waits for what the console has to write. The recorder goes on.
	stty -F /dev/console -echo
	echo b > /proc/sysrq-trigger
	;;
flight)
	echo "without a module: $(show early | grep -c unknown_in_last_kernel)"
	insmod ftmod_spin.ko
	insmod ftmod_a.ko
	at
	show after
	for cpu in $T/per_cpu/cpu*; do grep overrun: $cpu/stats; done
	if [ -e flight ]; then
		./flight snapshot -o file && ./flight show --flat file | grep '\[00' > calls
		echo "in a file: $(wc -l < calls), without names $(grep -c '<\.\.\.>\|<idle>' calls)"
	fi
	echo 1 > $O/flight-time 2>/dev/null && [ "$(cat $O/flight-time)" = 0 ] && echo "an option has changed"
	echo 1 > $T/tracing_on
	ls /proc > /dev/null
	echo "later calls: $(show more | grep -c '\[00')"
	echo > $T/trace
	echo "cleared: $(show more | grep -c '\[00')"
	echo nop > $T/current_tracer
	echo flight > $T/current_tracer
	echo 'vfs_*' > $T/set_ftrace_filter
	cat /proc/version > /dev/null
	echo "new calls: $(show now | grep -c 'vfs_read')"
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

# boot PLACE, MEMORY, OPTIONS: what a guest says that boots, is reset, and boots again. PLACE has the memory.
sub boot {
	my ($place, $memory, $options) = @_;
	my @command = ('setsid', "$root/tools/vm/guest", '-k', "$kernel/arch/x86/boot/bzImage", '-c', 2, '-d', "$dir/reset", '-l', "$dir/console",
		'-t', 200, '-a', "$place reserve_mem=16K:4096:little trace_flight_keep=$memory kunit.enable=0",
		map({ ('-q', $_) } qw(-action reboot=reset)), '/host/reset/run.sh');

	system "sed 's/\$OPTIONS/$options/' $dir/reset/boot.sh > $dir/reset/run.sh; chmod +x $dir/reset/run.sh";
	unlink "$dir/console";
	my $pid = open my $guest, '-|', @command or die "guest: $!\n";
	sleep 1 until grep({ /^the end/ } console()) || waitpid($pid, WNOHANG);
	kill 'TERM', -$pid;
	close $guest or note("the guest was stopped");
	return console();
}

# calls LINES: of each line its time; the task, CPU and the rest, without durations; and the name of the task.
sub calls {
	my @calls;

	for (@_) {
		my ($comm, $pid, $cpu, $time, $what) = /^ *(\S.*)-(\d+) +\[(\d+)\] \S+ +([\d.]+): (.*)/ or next;
		# A call that was open when it was shown may have returned since.
		$what =~ s/^.*?\|(.*?\(\))(?: \{|;)/$1/ || $what =~ s/^.*?\|//;
		push @calls, [$time, "$pid $cpu $what", $comm];
	}
	return @calls;
}

for my $options ('', 'flight-time', 'flight-time flight-returns') {
	# When the guest is reset, SeaBIOS writes to the 16 MB below the end of the memory.
	my $place = $options eq 'flight-time' ? 'reserve_mem=24M:4096:mem' : 'reserve_mem=24M:4096:top reserve_mem=2M:4096:mem';
	my @lines = boot($place, 'flight@mem', $options);
	my $said = join "\n", grep { !/^(?:before|after): [^#]/ && !/^\[/ } @lines;
	my ($before, $after) = map { my $name = $_; [calls(map { /^$name: (.*)/ ? $1 : () } @lines)] } qw(before after);
	my $last = $#{$before};
	cmp_ok($last, '>', 1000, "options '$options': many calls were made") or diag(@lines[-30 .. -1]);
	# The guest was reset while it recorded what came next.
	cmp_ok($#{$after}, '>', $last, '  more are found');
	my ($differ) = grep { $before->[$_][1] ne ($after->[$_] // ['', ''])->[1] } 0 .. $last;
	is($differ, undef, '  the first are the same: tasks, CPUs, functions and callers')
		or diag("$before->[$differ][1], ", ($after->[$differ] // ['', ''])->[1]);
	my @named = grep { $before->[$_][2] !~ /^</ } 0 .. $last;
	cmp_ok(scalar @named, '>', 500, '  tasks had names');
	my ($other) = grep { $before->[$_][2] ne ($after->[$_] // ['', '', ''])->[2] } @named;
	is($other, undef, '  which are found') or diag("@{$before->[$other]}, ", join ' ', @{$after->[$other] // []});
	my @places = $said =~ /^ftmod_a is at (\S+)/mg;
	ok(@places == 2 && $places[0] ne $places[1], "  a module has moved: @places");
	cmp_ok(scalar(grep { $_->[1] =~ /\bftmod_a_one\b/ } @$before), '>=', 3, '  its functions are among them');
	like($said, qr/^without a module: [1-9]/m, '  without the module they have no names');
	is(scalar(grep { $after->[$_][0] < $after->[$_ - 1][0] } 1 .. $#{$after}), 0, '  in order');
	# A guest does not know its time stamp counter well.
	my ($took, $takes) = map { $_->[$last][0] - $_->[0][0] } $before, $after;
	ok($takes >= $took / 2 && $takes <= $took * 2, '  they take as long') or diag("$took, $takes");
	like($said, qr/tracer of flight is nop.*tracer of flight is flight/s, '  the tracer shows them, once');
	like($said, qr/^after: # recorded by the last kernel/m, '  the header says where they come from');
	unlike($said, qr/^before: # recorded by the last/m, '  the header of a recorder that runs does not');
	unlike($said, qr/there is a snapshot/, '  there are no snapshots');
	unlike($said, qr/overrun: [1-9]/, '  no call that is found was overwritten');
	unlike($said, qr/an option has changed/, '  options stay');
	my $found = grep { /^after: .*\[00/ } @lines;
	SKIP: {
		skip 'no libtracefs', 1 if !$program;
		# Not those of lines that end a call.
		my $calls = $found - grep { /^after: .*\[00[^|]*\| +\}/ } @lines;
		like($said, qr/^in a file: $calls, without names $calls$/m, '  the program flight writes a file');
	}
	like($said, qr/^later calls: $found$/m, '  nothing is recorded meanwhile');
	like($said, qr/^cleared: 0$/m, '  they are forgotten');
	like($said, qr/^new calls: [1-9]/m, '  the tracer records anew');
}
my %refused = ('flight@nothing' => 'no such memory', 'flight@little' => 'memory is too small', 'flight' => 'must be NAME@MEMORY',
	'@mem' => 'must be NAME@MEMORY');
like(join("\n", boot('reserve_mem=2M:4096:mem', $_, '')), qr/trace_flight_keep: .*$refused{$_}/, "$_ is refused") for sort keys %refused;
done_testing();
