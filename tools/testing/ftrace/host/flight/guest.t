#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# tools/tracing/flight in a guest: its snapshots have the calls of the file trace, a trigger takes one
# where it should, and it is exported. The cases of flight-recorder.rst are found as they are there.

use strict;
use warnings;
use File::Copy;
use File::Temp qw(tempdir);
use FindBin;
use JSON::PP;
use MIME::Base64;
use Test::More;

my $root = "$FindBin::Bin/../../../../..";
chomp(my $build = `$root/scripts/build-dir`);
my $image = $ENV{FLIGHT_KERNEL} // "$build/small/arch/x86/boot/bzImage";
my $dir = tempdir(CLEANUP => 1);

plan(skip_all => "no $image") if !-e $image;
plan(skip_all => 'no libtracefs') if system('pkg-config --exists libtracefs zlib');
mkdir "$dir/programs";
is(system("make -s -C $root/tools/tracing/flight O=$dir/programs STATIC=1 > $dir/log 2>&1"), 0,
	'the program builds') or diag(`cat $dir/log`);
copy("$FindBin::Bin/guest.sh", "$dir/programs/guest.sh");
chmod 0755, "$dir/programs/guest.sh";
mkdir "$dir/slow";
copy($_, "$dir/slow") for glob "$FindBin::Bin/slow/*";
is(system("make -s -C $build/small M=$dir/slow modules > $dir/log 2>&1"), 0, 'the slow driver builds') or diag(`cat $dir/log`);
copy("$dir/slow/slow.ko", "$dir/programs/slow.ko");

# The commands of the document. Who waits for a trigger is waited for until it does, and behind the next one.
my $doc = do { local (@ARGV, $/) = "$root/Documentation/trace/flight-recorder.rst"; <> };
my ($section) = $doc =~ /^Finding what was slow\n(.*?)^How it works/ms;
my ($waits, @cases) = ('', 'cd /tmp', 'cp /host/programs/slow.ko .', 'export PATH=$PATH:/host/programs PAGER=cat');
for ($section =~ /^  # (.*)/mg) {
	my $behind = s/ &$// ? ' 2> said & until grep -q waiting said; do sleep 0.1; done' : $waits;
	$waits = $behind eq $waits ? '' : '; wait; rm said';
	s/'/'\\''/g;
	push @cases, "echo '# $_'", s/'\\''/'/gr . $behind;
}
open my $cases, '>', "$dir/programs/cases.sh" or die "$dir: $!\n";
print {$cases} map { "$_\n" } @cases;
close $cases or die "$dir: $!\n";
my $said = `$root/tools/vm/guest -k '$image' -d $dir/programs -l $dir/console -t 400 -a kunit.enable=0 /host/programs/guest.sh 2>&1`;
is($?, 0, 'the guest ends') or diag(substr $said, -2000);
$said =~ s/\r//g;

my %file;
while ($said =~ /^begin (\w+)\n(.*?)^end$/msg) {
	$file{$1} = "$dir/$1";
	open my $out, '>:raw', $file{$1} or die "$dir: $!\n";
	print {$out} decode_base64($2);
	close $out or die "$dir: $!\n";
}
is_deeply([sort keys %file], ['all', 'few', 'returns', 'slower', 'trigger'], 'there are files') or diag(substr $said, 0, 2000);

# show NAME OPTION...
sub show {
	my ($name, @options) = @_;
	return scalar `$dir/programs/flight show @options $dir/$name 2>&1`;
}

my @want = $said =~ /^trace (\d+ \d+ [\d.]+ \S+ <-\S+)$/mg;
my @got = map { /-(\d+) +\[(\d+)\] +([\d.]+): (\S+ <-\S+)$/ ? "$1 $2 $3 $4" : () } split /\n/, show('few', '--flat');
cmp_ok(scalar @want, '>', 10, 'the trace has calls');
# The trace rounds times.
s/^(\d+ \d+) [\d.]+/$1/ for @want, @got;
is("@got", "@want", 'a snapshot has the calls of the trace');
like(show('few'), qr/us \| (\s*)ksys_read <-\w+\n.*us \| \1  vfs_read\n/, '  as trees');
like(show('all'), qr/-\d+ .*\| +iterate_dir\b/, 'another one has the calls of all functions');
my ($busy) = $said =~ /^busy (\d+)$/m;
cmp_ok($busy // 0, '>', 100_000, 'a snapshot of a busy CPU has the whole ring');
cmp_ok($busy // 1e9, '<=', 131_072, '  and no calls since');
like($said, qr/^recording 1$/m, '  and recording goes on');
# Lines of other tasks may come between.
my %tree;
/-(\d+) +\[/ && ($tree{$1} .= "$_\n") for split /\n/, show('returns');
ok(scalar(grep { /us \| ( *)ksys_read\n(?:.*us \| \1 +.*\n)*?.*us \| \1  vfs_read\n/ } values %tree), '  also with returns');
system "$dir/programs/flight export --chrome -o $dir/returns.json $file{returns}";
cmp_ok(scalar(() = `cat $dir/returns.json` =~ /^\{"ph":"E","cat":"recorded"/mg), '>', 1000, '    which are recorded');
like(show('slower'), qr/\| +hrtimer_nanosleep\n/, 'a slow call is recorded');
cmp_ok(10 * split(/\n/, show('slower')), '<', split(/\n/, show('returns')), '  with few others');
like($said, qr/^threshold 0$/m, '  and the threshold of the kernel is what it was');
like(show('trigger', '--flat', '--reverse'), qr/\A(?:#.*\n)*(?:.*\n){0,3000}.*: __x64_sys_sync <-/,
	'a trigger takes one when its function is called');
like($said, qr/^tracer flight, recording on, 8192 kB for each CPU$/m, 'the status while it records');
like($said, qr/^one CPU 2\nall CPUs 3$/m, 'calls are recorded on some CPUs, or on all');
like($said, qr/recording is off.*\n(?s:.*)^while off 1$/m, 'a trigger waits for nothing if recording is off');
like($said, qr/no_such_function.*\nno function 1\noff$/m, 'a start that fails says so, and leaves no new instance');
like($said, qr/no_such_function.*\nno trigger 1\n.*no_such_event.*\nno event 1$/m, 'a trigger that cannot be set says so');

is(system("$dir/programs/flight export --chrome -o $dir/chrome.json $file{all}"), 0, 'a snapshot is exported');
open my $in, '<:raw', "$dir/chrome.json" or die "$dir: $!\n";
my $events = decode_json(join '', <$in>)->{traceEvents};
cmp_ok(scalar @$events, '>', 1000, '  with many slices');


# The answers of the document.
like($said, qr/--slowest 1 lock.flight\n(?:# .*\n| .* \| schedule <- .* <- mutex_lock <- slow_write \[slow\] <- vfs_write.*\n)+# flight/,
	'the case of a lock: who waits');
like($said, qr/\n +kworker.* slow_flush \[slow\]\n +kworker.* msleep\n(?:.*\n){0,9}.* slow_write_late \[slow\]/, '  and who has it');
like($said, qr/tail -n 3\n(?:dd;.*\n){0,2}dd;.*;read_zero;handle_mm_fault;.*\n/, 'the case of page faults');
like($said, qr/--slowest 1 late.flight\n(?:# .*\n| .* \| slow_read_registers \[slow\] <- slow_read.*\n)+# flight/,
	'the case of a late timer: what ran');
my ($began, $interrupt) = $said =~ /([\d.]+): +\S+ us \| +slow_read_registers \[slow\]\n(?:.*\w\n)+.* ([\d.]+): .*\[interrupt\]\n/;
cmp_ok(($interrupt // 0) - ($began // 0), '>', 0.1, '  without an interrupt');

# depth FILE: how many rows of slices a picture has. speedscope draws one every 20 pixels, in light colours.
sub depth {
	my ($file) = @_;
	open my $in, '-|:raw', 'pngtopnm', $file or return 0;
	my ($width, $height, $pixels) = join('', <$in>) =~ /^P6\s+(\d+) (\d+)\s+255\s(.*)/s or return 0;
	my $rows = 0;
	# Below the overview.
	for (my $y = 153; $y < $height; $y += 20) {
		my @line = unpack '(a3)*', substr $pixels, $y * $width * 3, $width * 3;
		$rows++ if grep { my ($r, $g, $b) = unpack 'C3'; $r + $g + $b > 450 && abs($r - $g) + abs($g - $b) > 15 } @line;
	}
	return $rows;
}

# "make picture"
if (my $picture = $ENV{FLIGHT_PICTURE}) {
	my ($pid) = show('all') =~ /^ +ls-(\d+) /m;
	system "$dir/programs/flight export --chrome -p $pid -o $dir/ls.json $file{all}";
	my $shown = `$FindBin::Bin/picture $dir/ls.json '$picture' $build/vm`;
	like($shown, qr/^Importing as Trace Event Format profile$/m, 'speedscope reads the file');
	unlike($shown, qr/rror|cannot|fail/, 'speedscope does not complain');
	like($shown, qr/^tasks \(pid 1\), ls \(tid $pid\)/m, 'speedscope shows the task');
	cmp_ok(depth($picture), '>', 8, 'the picture has deep stacks') or diag($shown);
}
done_testing();
