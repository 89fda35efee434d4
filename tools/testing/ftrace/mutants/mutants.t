#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# The planted faults fit the code: each patch applies, has one file, and names tests and variants of
# models that exist, or a reason why no test sees the fault; each file of the core has a fault.

use strict;
use warnings;
use File::Basename;
use FindBin;
use Test::More;

my $tests = dirname($FindBin::RealBin);
my $root = "$tests/../../..";
my %faulty;
my %variant = map { /^(\w+)\t([^\t]+)\t\w+\t/ ? ("$1 $2" => 1) : () }
	split /\n/, slurp("$tests/model/cases");

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

for my $patch (glob "$FindBin::RealBin/*.patch") {
	my $name = basename($patch, '.patch');
	my ($head, $diff) = split /^(?=--- )/m, slurp($patch), 2;
	my ($fault, @lines) = split /\n/, $head;
	my @files = ($diff // '') =~ m{^\+\+\+ b/(\S+)}mg;
	my @bad;

	push @bad, 'no line that says the fault' if ($fault // '') !~ /^\w.{20,}[^.]$/;
	push @bad, 'not one file' if @files != 1;
	for my $line (grep { /./ } @lines) {
		next if $line =~ /^Survives: .+\.$/;
		if ($line =~ /^Tests: model (.+)/) {
			push @bad, "no variant $1" if !$variant{$1};
			next;
		}
		next if $line =~ /^Tests: native(?: address| thread)?$/;
		my ($words) = $line =~ /^Tests: (?:locks |memory |btf |i386 |7\.3 )?(.+)/ or push @bad, "what is this: $line";
		push @bad, map { "no test $_" } grep { !known($_) } split ' ', $words // '';
	}
	push @bad, 'no tests and no reason' if !grep { /^(?:Tests|Survives): / } @lines;
	# A version of Linux can have a file of its own.
	my $dir = $root;
	my $own = 'patches/' . ((grep { /^Tests: 7\.3 / } @lines) ? '7.3' : '6.12') . '/files';
	if (-f "$root/$own/" . ($files[0] // '')) {
		$dir = "$root/$own";
		@files = map { "$own/$_" } @files;
	}
	push @bad, 'does not apply'
		if system "patch -d '$dir' -p1 -s -f -F0 -r - --dry-run <'$patch' >/dev/null 2>&1";
	is(join('; ', @bad), '', "$name: the patch is in order");
	$faulty{$_} = 1 for @files;
}

# Headers with code, too. Without a fault are names.h, where any other bit for a character is as good,
# core.h, where a loop that does not yield only takes time, and frames.S, which is empty without frame
# pointers.
my $x86 = 'arch/x86/kernel/ftrace';
my @core = map { s{^\Q$root\E/}{}r }
	grep { !/kunit|\/(?:names\.h|core\.h|frames\.S)$/ && (!/\.h$/ || slurp($_) =~ /inline.*\n\{/) }
	glob("$root/kernel/trace/ftrace/*.[ch] $root/$x86/*.[chS] " .
	"$root/patches/*/files/kernel/trace/ftrace/*.c");
is(join(' ', grep { !$faulty{$_} } @core), '', 'each file of the core has a fault');
ok($faulty{'scripts/recordmcount.pl'}, 'recordmcount.pl has a fault');
done_testing();
