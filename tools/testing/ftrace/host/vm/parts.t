#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# tools/vm/part.sh and tools/vm/Parts.pm without a kernel: a shell of the host takes the place of
# the guest.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../../../../vm";
use File::Temp qw(tempdir);
use Test::More;
use Parts;

my $vm = "$FindBin::RealBin/../../../../vm";
my $dir = tempdir(CLEANUP => 1);

sub write_file {
	my ($file, $text) = @_;
	open my $out, '>', $file or die "$file: $!\n";
	print $out $text;
	close $out;
	return;
}

sub read_file {
	my ($file) = @_;
	open my $in, '<', $file or return;
	local $/ = undef;
	return <$in>;
}

# unwrapped SCRIPT: what comes through of the output of a shell script, and the status of the part
# "whole".
sub unwrapped {
	my ($script) = @_;

	unlink "$dir/status";
	write_file("$dir/script", ". '$vm/part.sh'\n$script\n");
	my $out = `sh '$dir/script' | perl '-I$vm' -MParts -e 'Parts::unwrap(\@ARGV)' whole '$dir/status'`;
	return [$out, scalar read_file("$dir/status")];
}

is_deeply(unwrapped('part whole echo text'), ["text\n", "0\n"], 'the mark is taken off');
is_deeply(unwrapped('part whole sh -c "echo text; exit 7"'), ["text\n", "7\n"], 'the status is that of the command');
is_deeply(unwrapped('echo text'), ["text\n", undef], 'a part that does not end has no status');
my $inner = "text\n\@end x 3\n";
is_deeply(unwrapped("part whole sh -c '. $vm/part.sh; part x sh -c \"echo text; exit 3\"'"), [$inner, "0\n"],
	'the mark of a part inside stays');

# outcomes SCRIPT: run the parts a, b and c in shells that run SCRIPT. A shell that exits is a guest
# that dies. Returns how many guests there were, and the result of each part.
sub outcomes {
	my ($script) = @_;
	my $guests = 0;
	my @got;

	write_file("$dir/script", ". '$vm/part.sh'\nlog=$dir/log\n$script\n");
	write_file("$dir/log", "from before\n");
	Parts::run_parts([qw(a b c)], "$dir/log",
		sub { $guests++; return ('sh', "$dir/script", @_) },
		sub { push @got, join '|', map { s/\n/./gr } @_ });
	return [$guests, @got];
}

my $each = 'for p; do part $p run $p; done';
is_deeply(outcomes("run() { echo text \$1; }\n$each"), [1, 'a|0|text a.', 'b|0|text b.', 'c|0|text c.'],
	'one guest runs all parts');
is_deeply(outcomes("run() { [ \$1 != b ] || return 4; }\n$each"), [1, 'a|0|', 'b|4|', 'c|0|'],
	'a part that fails is no death');
is_deeply(outcomes(<<'END'), [2, 'a|0|', 'b|died|half |oops|panic', 'c|0|'], 'death in a part: the next part gets a new guest');
for p; do
	[ $p = b ] && { printf 'oops\r\npanic\r\n' >$log; printf "half "; exit 1; }
	part $p true
done
END
is_deeply(outcomes('part $1 echo text; exit 0'), [2, 'a|0|text.', 'b|died|', 'c|0|text.'],
	'death behind a part: the next part is lost, and does not get the text of the part before');
is_deeply(outcomes('exit 1'), [3, 'a|died|', 'b|died|', 'c|died|'], 'a guest that never runs costs each part one guest');
is_deeply(outcomes('seq 1 100 >$log; exit 1')->[1], join('|', 'a', 'died', '', 61 .. 100),
	'the end of the console is shown');
is(read_file("$dir/log.b"), join('', map { "$_\n" } 1 .. 100), 'the whole console of each guest that died is kept');

done_testing();
