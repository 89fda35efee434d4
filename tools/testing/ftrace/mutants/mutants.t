#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# The planted faults fit the code: each can be planted, and names tests that exist, or a reason why no
# test sees it; each header and each file of assembler code has one.

use strict;
use warnings;
use File::Basename;
use File::Copy;
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use FindBin;
use Test::More;

my $tests = dirname($FindBin::RealBin);
my $root = "$tests/../../..";
my %faulty;

sub slurp {
	my ($file) = @_;
	open my $in, '<', $file or die "$file: $!\n";
	local $/ = undef;
	return scalar <$in>;
}

# Is WORD of a line "Tests:" something that run-mutants can run?
sub known {
	my ($word) = @_;
	return $word =~ /^(?:boot|kunit)$/ || -f "$tests/guest/$word" || $word =~ /\.t$/ && -f "$tests/$word";
}

my $planter = "$tests/run-mutants";
my $tree = tempdir(CLEANUP => 1);
for my $name (split /\n/, qx($planter -l)) {
	my ($file, $fault, @lines) = split /\n/, qx($planter -s $name);
	my @bad;

	push @bad, 'no line that says the fault' if $fault !~ /^\w.{20,}[^.]$/;
	for my $line (@lines) {
		next if $line =~ /^Survives: .+\.$/;
		next if $line =~ /^Tests: native(?: address| thread)?$|^Tests: torture$/;
		my ($words) = $line =~ /^Tests: (?:locks |memory |btf |i386 |7\.3 )?(.+)/;
		push @bad, map { "no test $_" } grep { !known($_) } split ' ', $words;
	}
	push @bad, 'no tests and no reason' if !@lines;
	# Linux 6.12 can have a file of its own.
	my $own = 'patches/6.12/files';
	my $from = -f "$root/$own/$file" && !(grep { /^Tests: 7\.3 / } @lines) ? "$own/$file" : $file;
	make_path(dirname("$tree/$file"));
	copy("$root/$from", "$tree/$file") or push @bad, "no file $from";
	push @bad, 'cannot be planted' if system "$planter -p $name $tree";
	is(join('; ', @bad), '', "$name: the fault is in order");
	$faulty{$from} = 1;
}
like(qx($planter @$_ 2>&1), qr/^usage/m, "run-mutants @$_: a message") for ['nothing'], ['-p', 'nothing', $tree], ['-x'];

# "make faults" generates those of .c files. Without a fault are names.h, where any other bit for a
# character is as good, core.h, where a loop that does not yield only takes time, sysctl.h, which has no
# work on 7.3, wait.h, of which a model shows what matters, and frames.S, which is empty without frame
# pointers.
my $x86 = 'arch/x86/kernel/ftrace';
my @core = map { s{^\Q$root\E/}{}r }
	grep { !/\/(?:names\.h|core\.h|sysctl\.h|wait\.h|frames\.S)$/ && (!/\.h$/ || slurp($_) =~ /inline.*\n\{/) }
	glob("$root/kernel/trace/ftrace/*.h $root/$x86/*.[hS]");
is(join(' ', grep { !$faulty{$_} } @core), '', 'each header and each file of assembler code has a fault');
ok($faulty{'scripts/recordmcount.pl'}, 'recordmcount.pl has a fault');
done_testing();
