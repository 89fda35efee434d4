#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# tools/tracing/flight-dump.py: gdb reads the rings of a guest, through the emulator and from a dump
# of its memory, and shows the calls that the file trace of the guest shows. drgn, too, from a dump of
# the kernel "full", which tells QEMU what kdump has in its dumps, and has the types that drgn needs.

use strict;
use warnings;
use File::Temp qw(tempdir);
use FindBin;
use POSIX 'WNOHANG';
use Test::More;
use Time::HiRes 'sleep';

my $root = "$FindBin::Bin/../../../../..";
my $kernel = $ENV{FTRACE_KERNEL} // "$root/build/small";
my $programs = ($ENV{FTRACE_CONSOLE} // "$root/build/try-small/tap/console") =~ s,/tap/.*,,r;
my $image = "$kernel/arch/x86/boot/bzImage";
plan(skip_all => "no $image, or no scripts in $programs") if !-e $image || !-d "$programs/guest";
plan(skip_all => 'no gdb') if system('command -v gdb > /dev/null');
my $symbols = `nm '$kernel/vmlinux'`;
plan(skip_all => 'this kernel has no flight recorder') if $symbols !~ / ftrace_flights$/m;

my $drgn = !system "grep -q '^CONFIG_FW_CFG_SYSFS=y' '$kernel/.config'";
my $dir = tempdir(CLEANUP => 1);
my $script = "$root/tools/tracing/flight-dump.py";

sub slurp {
	my ($file) = @_;
	open my $in, '<:raw', $file or return '';
	local $/ = undef;
	return <$in> // '';
}

# gdb COMMAND...: what it says.
sub gdb {
	my (@commands) = @_;
	my $more = join ' ', map { "-ex '$_'" } @commands;
	my $gdb = "timeout 240 gdb -nx -batch -ex 'set confirm off' -x '$script' $more";
	return scalar `$gdb '$kernel/vmlinux' 2>&1`;
}

# calls TEXT: "CPU PID TIME CALL" of each line of a trace, without functions of modules.
sub calls {
	my ($text) = @_;
	return join '', sort map { "$_\n" } map {
		/-(\d+) +\[(\d+)\] \S+ +([\d.]+): ([a-z_]\S+ <-\S+)$/ ||
		/^ +(\d+) \[(\d+)\] +([\d.]+): ([a-z_]\S+ <-\S+)$/ ?
			"$2 $1 $3 $4" : ()
	} split /\n/, $text;
}

# same GOT, WANT, NAME: like is(), but shows the first difference only.
sub same {
	my ($got, $want, $name) = @_;
	my @got = split /\n/, $got;
	my @want = split /\n/, $want;

	return 1 if ok($got eq $want && $want ne '', $name);
	my ($n) = grep { ($got[$_] // '') ne ($want[$_] // '') } 0 .. (@got > @want ? $#got : $#want);
	diag(sprintf "%d lines, wanted %d; line %d:\n%s\n%s", scalar @got, scalar @want, ($n // 0) + 1,
		$got[$n // 0] // '', $want[$n // 0] // '');
	return 0;
}

# kdump FILE: give a dump of the emulator the addresses that a dump of kdump has, those of the direct
# map; and in place of the smallest part, in which is nothing of use, the kernel's text and data.
sub kdump {
	my ($file) = @_;
	my $dump = slurp($file);
	my ($at, $size, $number) = unpack 'x32Q x14SS', $dump;
	my @loads = grep { unpack('L', substr $dump, $_, 4) == 1 }
		map { $at + $_ * $size } 0 .. $number - 1;
	my ($base) = $symbols =~ /^(\w+) \w page_offset_base$/m;
	my $text = 0x1000000;
	my $direct_map = 0xffff8880 << 32;
	my $text_map = 0xffffffff << 32 | 0x80000000;

	return 0 if @loads < 2 || $base;
	# The smallest one.
	my %length = map { $_ => unpack 'x32Q', substr $dump, $_, 40 } @loads;
	my ($spare) = sort { $length{$a} <=> $length{$b} } @loads;
	for my $load (grep { $_ != $spare } @loads) {
		my ($flags, $offset, $virtual, $physical, $length) = unpack 'x4LQQQQ', substr $dump, $load, 56;
		substr $dump, $load + 16, 8, pack('Q', $direct_map + $physical);
		next if $physical > $text || $physical + $length <= $text;
		substr $dump, $spare, 56,
			pack('LLQQQQQQ', 1, $flags, $offset + $text - $physical, $text_map + $text, $text,
			$length - $text + $physical, $length - $text + $physical, 0);
	}
	open my $out, '>:raw', $file or die "$file: $!\n";
	print {$out} $dump;
	close $out or die "$file: $!\n";
	return 1;
}

my $pid = fork // die "fork: $!\n";
if (!$pid) {
	open STDOUT, '>', "$dir/said" or die "$dir: $!\n";
	open STDERR, '>&', \*STDOUT or die "$dir: $!\n";
	exec "$root/tools/vm/guest", '-k', $image, '-d', "$programs/guest", '-m', 128,
		'-l', "$dir/console", '-t', 500,
		'-a', 'nokaslr kunit.enable=0', '-q', '-gdb', '-q', "unix:$dir/gdb,server=on,wait=off",
		'-q', '-device', '-q', 'vmcoreinfo',
		'/host/guest/flight-dump.sh' or die "guest: $!\n";
}
my $ended = 0;
while (!$ended && slurp("$dir/said") !~ /^ready$/m) {
	sleep 0.2;
	$ended = waitpid $pid, WNOHANG;
}
my $said = slurp("$dir/said");
if (!ok(!$ended, 'the guest has traces')) {
	diag($said);
	done_testing();
	exit;
}
my $live = gdb("target remote $dir/gdb", 'flight 100000', "flight -o $dir/none", "flight -o /no/file other", "flight -o $dir/other other",
	"flight -o $dir/returns returns", "monitor dump-guest-memory $dir/dump",
	$drgn ? ("monitor dump-guest-memory -p $dir/paged", 'detach') : 'monitor quit');
# The first module of a damaged list is followed by itself, or by none.
my @damaged = map { gdb("target remote $dir/gdb", "set {long}{long}&modules = $_", 'flight 1', 'detach') } $drgn ? ('{long}&modules', 16) : ();
gdb("target remote $dir/gdb", 'monitor quit') if $drgn;
waitpid $pid, 0;

my %want = map { $_ => calls(join '', $said =~ /^$_: (.*\n)/mg) } qw(tracing other);
# The youngest recorder is the first.
my ($other, $tracing) = $live =~ /^recorder of other\n(.*)^recorder of the top level\n(.*)/ms;
like($want{tracing}, qr/vfs_read <-ksys_read/, 'the trace has calls');
same(calls($tracing // $live), $want{tracing}, 'gdb shows the calls of the trace');
same(calls($other // $live), $want{other}, 'also those of a recorder with times');

SKIP: {
	skip 'no returns on this kernel', 3 if $live !~ /^recorder of returns\n(.*?)^recorder of/ms;
	my $returns = $1;
	like($returns, qr/^ +(\d+) (.*: )vfs_write <-ksys_write\n +\1 .*: \} \/\* vfs_write \*\/\n/m, 'returns are shown');
	# __x64_sys_write() jumps to ksys_write(), so the caller is a thunk.
	like($returns, qr/: ksys_write <-__x64_sys_write$/m, '  also if the caller has jumped');
	# The shell, too, is in a function when it stops the recorder.
	is_deeply([$returns =~ /^ +\d+ (open: .*)/mg], [('open: vfs_write <- ksys_write <- __x64_sys_write') x 2],
		'open calls are shown');
}

like($live, qr/^\[Errno 2\] No such file or directory: '\/no\/file'$/m, 'a file that cannot be made is an error');
like($live, qr/^which recorder\? (?:\w+, )*other, ''$/m, 'what goes to a file has a name');
SKIP: {
	skip 'no libtracefs', 2 if system('pkg-config --exists libtracefs zlib');
	system "make -s -C $root/tools/tracing/flight O=$dir > $dir/log 2>&1";
	my $shown = `$dir/flight show --flat $dir/other 2>&1`;
	# The program shows no flags, and does not round times.
	my ($got, $want) = map { join "\n", sort map { s/^(\S+ \S+) \S+/$1/r } split /\n/ }
		calls($shown =~ s/\] /] ..... /gr), $want{other};
	same($got, $want, 'the program shows the calls of a file from a dump');
	skip 'no returns on this kernel', 1 if !-e "$dir/returns";
	like(`$dir/flight show $dir/returns 2>&1`, qr/us \| +ksys_write.*\n.*us \| +vfs_write\n/, '  with returns');
}

my $few = gdb('flight 3', 'flight none', 'flight 0');
like($few, qr/usage: flight/, 'what is no number is refused') or diag($few);

if ($drgn) {
	like($live, qr/: ftmod_a_one \[ftmod_a\] <-ftmod_a_nest \[ftmod_a\]$/m, 'gdb shows functions of modules, if it has types');
	like($damaged[0], qr/ftmod_a_nest \[ftmod_a\]$/m, '  also if the list of modules has no end');
	like($damaged[1], qr/^the list of modules is damaged.* <-\w/ms, '  or is damaged');
	my $command = "timeout 240 drgn -q -c $dir/paged -s '$kernel/vmlinux' '$script'";
	my $dead = `$command 100000 2>&1`;
	same(calls($dead), calls($live), 'drgn shows the same calls') or diag(substr $dead, 0, 500);
	like($dead, qr/: ftmod_a_one \[ftmod_a\] <-ftmod_a_nest \[ftmod_a\]$/m, '  also those of a module');
	like(`$command -o $dir/drgn other 2>&1`, qr{^\d+ calls of \d+ tasks\n\z}, '  and writes them to a file');
	like(`$dir/flight show $dir/drgn 2>&1 | head`, qr{^ +(?:sh|dd)-\d+ .* vfs_read\n}m, '    with names of tasks') if -x "$dir/flight";
	is(`$command none 2>&1`, "flight: usage: flight [NUMBER | -o FILE [NAME]]\n", 'drgn says what is no number');
}

SKIP: {
	skip 'a dump in the format of kdump cannot be made of this one', 1 if !kdump("$dir/dump");
	my $dead = gdb("core-file $dir/dump", 'flight 100000');
	same(calls($dead), calls($live), 'gdb shows the same calls from a dump') or
		diag(substr $dead, 0, 500);
	$dead = gdb("core-file $dir/dump", 'flight 2');
	my $recorders = () = $dead =~ /^recorder of /mg;
	cmp_ok(scalar(() = $dead =~ / <-\w/g), '<=', 2 * 2 * $recorders, '"flight 2" shows the last calls only');
}
done_testing();
