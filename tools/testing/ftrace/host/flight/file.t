#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# tools/tracing/flight: what it shows and exports of a file, and that it refuses what is no such file.
# The program is built with sanitizers.

use strict;
use warnings;
use Compress::Zlib;
use File::Temp qw(tempdir);
use FindBin;
use JSON::PP;
use Test::More;

my $root = "$FindBin::Bin/../../../../..";
my $dir = tempdir(CLEANUP => 1);
# The program leaves the memory of a file to exit().
$ENV{ASAN_OPTIONS} = 'detect_leaks=0';
plan(skip_all => 'no libtracefs') if system("pkg-config --exists libtracefs zlib");
is(system("make -s -C $root/tools/tracing/flight O=$dir CFLAGS='-O1 -g -fsanitize=address,undefined' > $dir/log 2>&1"),
	0, 'the program builds') or diag(`cat $dir/log`);

sub spew {
	my ($data) = @_;
	open my $out, '>:raw', "$dir/file" or die "$dir: $!\n";
	print {$out} $data;
	close $out or die "$dir: $!\n";
	return;
}

# flight ARGUMENTS: its status and what it says.
sub flight {
	my ($arguments) = @_;
	my $said = `$dir/flight $arguments 2>&1`;
	return ($? >> 8 || $? & 127, $said);
}

sub number {
	my ($n) = @_;
	my $bytes = '';
	while ($n > 127) {
		$bytes .= chr($n & 127 | 128);
		$n >>= 7;
	}
	return $bytes . chr $n;
}

sub section {
	my ($type, $content, $lie) = @_;
	my $packed = compress($content);
	return pack('LLQQ', $type, crc32($content), $lie // length $content, length $packed) . $packed;
}

# slices EVENTS: "name pid tid" of each one. Dies if those of a track are not in order, cross, are empty,
# or end where the next one begins: readers sort events, and compare times as floating-point numbers.
sub slices {
	my ($events) = @_;
	my (%open, %last, @slices);
	for my $event (grep { $_->{ph} =~ /[BEX]/ } @$events) {
		my $track = "$event->{pid} $event->{tid}";
		my $last = $last{$track} // [-1, 'B'];
		my $what = "$event->{ph} $event->{name} $track $event->{ts}";
		die "$what: behind $last->[0]\n" if $event->{ts} < $last->[0];
		die "$what: at the time of another\n" if $event->{ts} == $last->[0] && "$last->[1] $event->{ph}" ne 'E E';
		$last{$track} = [$event->{ts}, $event->{ph}];
		if ($event->{ph} eq 'B') {
			push @{$open{$track}}, $event->{name};
			push @slices, "$event->{name} $track";
		} elsif (pop(@{$open{$track}}) ne $event->{name}) {
			die "$what: ends what is not on top\n";
		}
	}
	die "open: $_\n" for grep { @{$open{$_}} } keys %open;
	@slices = sort @slices;
	return @slices;
}

my @names = ('read', 'vfs_read', 'lock', 'irq', 'asm_irq', 'syscall');
# Time since the last call, CPU, task, function, caller; how long it took + 1, if that is known.
my @calls = ([1000, 0, 0, 0, 5], [1000, 0, 0, 1, 0], [1000, 0, 0, 3, 4], [500, 0, 0, 2, 3], [2000, 0, 0, 2, 1],
	[1000, 0, 1, 2, 5], [3000, 0, 0, 0, 5]);

sub parts {
	return (section(1, "host=there\n\0"), section(2, join '', map { "$_\0" } @names),
		section(3, pack('lZ*lZ*', 7, 'one', 8, "two\e")),
		section(4, join '', map { map { number($_) } @$_, (0) x (6 - @$_) } @calls), section(5, ''));
}

sub file {
	return "FLIGHT\0\2" . join '', @_;
}

my $good = file(parts());
spew($good);
my ($status, $said) = flight("show $dir/file");
is($status, 0, 'a file is shown') or diag($said);
is($said, <<'END', 'as trees') or diag($said);
# host=there
             one-7       [000]      0.000001:      8.500 us | read <-syscall
             one-7       [000]      0.000002:      7.500 us |   vfs_read
             one-7       [000]      0.000003:      2.500 us |     irq <-asm_irq [interrupt]
             one-7       [000]      0.000003:      2.000 us |       lock [interrupt]
             one-7       [000]      0.000005:      4.000 us |     lock
            two?-8       [000]      0.000006:      0.002 us | lock <-syscall
             one-7       [000]      0.000009:      0.002 us | read <-syscall
END
($status, $said) = flight("show --flat --reverse $dir/file");
like($said, qr/^# host=there\n +one-7 +\[000\] +0.000009: read <-syscall\n/, '--flat --reverse');
($status, $said) = flight("show --slowest 2 $dir/file");
like($said, qr/\| read <- syscall\n.*\| vfs_read <- read <- syscall\n\z/, '--slowest');
($status, $said) = flight("show -p one $dir/file");
is(scalar(() = $said =~ /one-7 /g) . scalar(() = $said =~ /two/g), '60', '-p takes the name of a task');
($status, $said) = flight("show -p three $dir/file");
like("$status $said", qr/^1 flight: .*: no calls of three$/, '  and says if there is none');
($status, $said) = flight("export --folded -o - $dir/file");
is(join('', sort $said =~ /.*\n/g), <<'END', '--folded');
one;read 2
one;read;vfs_read 1
one;read;vfs_read;irq 1
one;read;vfs_read;irq;lock 1
one;read;vfs_read;lock 1
two?;lock 1
END
($status, $said) = flight("export --chrome -o $dir/chrome.gz $dir/file");
my $events = decode_json(scalar `zcat $dir/chrome.gz`)->{traceEvents};
is_deeply([slices($events)], ['irq 3 0', 'lock 1 7', 'lock 1 8', 'lock 3 0', 'one 2 0', 'one 2 0', 'read 1 7', 'read 1 7',
	'two? 2 0', 'vfs_read 1 7'], '--chrome has tracks of tasks, CPUs and interrupts');
my ($end) = grep { $_->{ph} eq 'E' && $_->{name} eq 'vfs_read' } @$events;
is_deeply([@{$end}{'ts', 'cat'}], [9.499, 'inferred'], '  with times');
is(scalar(grep { $_->{ph} eq 's' } @$events), 2, '  and switches');

# Through user mode: a system call, its way out, an exception, another system call.
spew(file(section(1, "\0"), section(2, "read\0exc_fault\0prepare\0fault\0do_syscall_64\0exit_to_user_mode\0"),
	section(3, pack 'lZ*', 7, 'one'),
	section(4, join '', map { map { number($_) } 1000, 0, 0, @$_, 0 } [0, 4], [2, 5], [3, 1], [0, 4], [3, 1]), section(5, '')));
($status, $said) = flight("show $dir/file");
is(join('', $said =~ /\|( +\w+)(?: <-\w+)?$/mg), ' read prepare fault read   fault', 'what begins in user mode ends all calls');

# Returns: a call that has one is open until then, also if another function is a caller meanwhile.
spew(file(section(1, "\0"), section(2, "?\0read\0lock\0wait\0irq_exit_rcu\0"), section(3, pack 'lZ*', 7, 'one'),
	section(4, join '', map { map { number($_) } 1000, 0, 0, @$_ } [1, 0, 4501], [2, 1, 501], [3, 1, 0], [4, 0, 101],
		[2, 3, 101], [1, 0, 20001], [2, 1, 18501]), section(5, '')));
($status, $said) = flight("show $dir/file");
is($said =~ s/.*:\s+(\S+ us)/$1/gmr, <<'END', 'returns end calls');
4.500 us | read
0.500 us |   lock
1.000 us |   wait
0.100 us |   irq_exit_rcu [interrupt]
0.100 us |   lock <-wait
20.000 us | read
18.500 us |   lock
END
($status, $said) = flight("show --slowest 2 $dir/file");
is($said =~ s/.*:\s+(\S+ us)/$1/gmr, <<'END', '--slowest leaves callers out that did little else');
18.500 us | lock <- read
4.500 us | read
END
($status, $said) = flight("export --folded -o - $dir/file");
is(join('', sort $said =~ /.*\n/g), <<'END', '--folded has times');
one;read 4300
one;read;irq_exit_rcu 100
one;read;lock 19100
one;read;wait 1000
END
flight("export --chrome -o $dir/chrome.json $dir/file");
$events = decode_json(scalar `cat $dir/chrome.json`)->{traceEvents};
is_deeply([map { "$_->{name} $_->{cat}" } grep { $_->{ph} eq 'B' && $_->{pid} == 1 } @$events],
	['read recorded', 'lock recorded', 'wait inferred', 'lock recorded', 'read recorded', 'lock recorded'],
	'  also in what is exported');

# Any calls: coarse clocks, large times, interrupts, tasks that move to another CPU.
srand 1;
my @tasks = (0, 0, 7, 8);
my $many = join '', map { map { number($_) } (rand 3 < 1 ? 0 : int rand 3000) + ($_ ? 0 : 10**15 + 1), int rand 2,
	int rand @tasks, int rand @names, int rand @names, rand 2 < 1 ? 0 : int rand 9000 } 0 .. 2999;
spew(file(section(1, "\0"), section(2, join '', map { "$_\0" } @names),
	section(3, join '', map { pack 'lZ*', $_, "task$_" } @tasks), section(4, $many), section(5, '')));
flight("export --chrome -o $dir/chrome.json $dir/file");
my @slices = slices(decode_json(scalar `cat $dir/chrome.json`)->{traceEvents});
is(scalar(grep { !/^task/ } @slices), 3000, '--chrome has each call once, strictly nested');
flight("export -p 7 --chrome -o $dir/chrome.json $dir/file");
is_deeply([grep { / 1 (?!7$)/ } slices(decode_json(scalar `cat $dir/chrome.json`)->{traceEvents})], [], '-p takes one task');

# Arguments are looked at before anything is done.
for my $arguments ('start --size x', 'start --size 1025', 'start -p 5x', 'start --cpu 0-', 'start --cpu 3-1', 'start --cpu 0,',
	'start there', 'snapshot --last -1', 'snapshot --cpu 8192', 'snapshot -p 99999999999', "show -p a $dir/file",
	"show --slowest '' $dir/file", "export -p 1 $dir/file", 'show') {
	($status, $said) = flight($arguments);
	is("$status " . ($said =~ /^flight: .+\n\z/), '1 1', "flight $arguments: a message") or diag($said);
}

# Files that are none.
my @bad = ('', 'FLIGHT', "FLIGHT\0\1" . join('', parts()), substr($good, 0, -1), $good . 'x');
for my $at (0 .. 4) {
	my @parts = parts();
	push @bad, file(@parts[0 .. $at - 1]), file((@parts[0 .. $at - 1], @parts[$at + 1 .. 4]));
	for my $content ("\xff", "\xff" x 20, 'x', number(2**63) x 5) {
		push @bad, file(@parts[0 .. $at - 1], section($at + 1, $content), @parts[$at + 1 .. 4])
			if $at > 1 && $at < 4;
	}
	push @bad, file(@parts[0 .. $at - 1], section($at + 1, 'x', 1 << 40), @parts[$at + 1 .. 4]);
	push @bad, file(@parts[0 .. $at - 1], section($at + 1, 'x', 5), @parts[$at + 1 .. 4]);
}
my @accepted;
for my $data (@bad) {
	spew($data);
	($status, $said) = flight("show $dir/file");
	push @accepted, "$status: $said" if $status != 1 || $said !~ /^flight: .*\n\z/;
}
is("@accepted", '', scalar(@bad) . ' bad files are refused');

# Any change of a byte: refused, or shown, but nothing worse.
srand 1;
@accepted = ();
for (1 .. 300) {
	my $data = $good;
	substr $data, rand length $data, 1, chr rand 256 for 0 .. rand 3;
	spew($data);
	($status, $said) = flight("show $dir/file");
	push @accepted, "$status: $said" if $status > 1 || $said =~ /ERROR|runtime error/;
}
is("@accepted", '', 'files with changed bytes do no harm');
done_testing();
