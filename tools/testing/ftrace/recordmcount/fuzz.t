#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# A short run of fuzz, always the same one. Then fuzz has to notice what a broken recordmcount.pl
# does: each of the copies made here breaks one promise.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use File::Temp qw(tempdir);
use Test::More;
use Binutils;

my $kept = tempdir(CLEANUP => 1);

# fuzz SCRIPT ARG...: its status and what it prints, with SCRIPT for recordmcount.pl.
sub fuzz {
	my ($script, @arguments) = @_;

	local $ENV{RECORDMCOUNT} = $script;
	my ($status, $out, $err) = run("$FindBin::Bin/fuzz", '-o', $kept, @arguments);
	return ($status, "$out$err");
}

{
	my ($status, $out) = fuzz($SCRIPT, '-n', 500, 1);
	my %count = reverse $out =~ /^ *(\d+) (.*)$/mg;

	is($status, 0, '500 cases: nothing is wrong') or diag($out);
	like($out, qr/^500 cases, 0 failed$/m, '500 cases: all were run');
	cmp_ok($count{changed} // 0, '>', 200, 'many get a table');
	cmp_ok(scalar(grep { /^refused: / } keys %count), '>', 10, 'many reasons to refuse');
	is(scalar(grep { /^linked by / } keys %count), 12, 'all linkers were used');
	is_deeply([glob "$kept/*"], [], 'no object is kept');
}

my $good = slurp($SCRIPT);
# What to replace, by what, and what fuzz says then.
my %broken = (
	'does not cut the file back' => [
		qr/truncate \$file, \$size or/, '1 or', qr/is refused, but has changed/],
	'leaves its copy' => [qr/\tunlink \$copy;\n/, '', qr/leaves \d+\.o .*\.tmp/],
	'writes no table' => [
		qr/put\(\$fh, \$size, \$obj->\{tail\}\);/, '', qr/refuses the result/],
	'warns' => [qr/die "a relocation points outside.*\n.*;/, ';', qr/ line \d/],
	'looks for no table' => [
		qr/return if (?=is_recorded)/, '', qr/a second run changes the file/],
	'changes a signed file' => [qr/die "is signed.*\n/, ';', qr/was signed/],
	'writes to all names' => [
		qr/\$obj->\{nlink\} > 1/, '0', qr/the other name of the file has/],
	'ends with status 2' => [qr/\? 1 : 0\);\Z/, '? 2 : 0);', qr/ends with status 512/],
);
for my $what (sort keys %broken) {
	my ($from, $to, $notices) = @{$broken{$what}};
	my $script = spew("$DIR/broken.pl", $good =~ s/$from/$to/r);

	isnt(slurp($script), $good, "$what: the copy is another one");
	my ($status, $out) = fuzz($script, '-n', 120, 1);
	my ($line, $seed, $case) = $out =~ /^(fuzz (\d+) (\d+) .*$notices.*)$/m;
	is($status, 256, "$what: fuzz fails");
	ok($line, "$what: fuzz says so") or diag($out);
	next if !$line;

	ok(-s "$kept/$seed-$case.o", "$what: the object is kept");
	(undef, $out) = fuzz($script, $seed, $case);
	like($out, qr/^fuzz $seed $case .*$notices/m, "$what: the case can be run alone");
}

done_testing();
