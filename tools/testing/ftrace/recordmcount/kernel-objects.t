#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# Every object of a kernel: FTRACE_MCOUNT_OBJS is the build tree of one that was built with
# gcc -mrecord-mcount. Without its table, each object gets another one with the same sites.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use File::Find qw(find);
use Test::More;
use Binutils;

my $tree = $ENV{FTRACE_MCOUNT_OBJS};
plan(skip_all => 'FTRACE_MCOUNT_OBJS names no build tree of a kernel made with gcc -mrecord-mcount') if !$tree;

my @objects;
find({ no_chdir => 1, wanted => sub {
	# All the others once more, linked; the build never lists its sites.
	return if m{/vmlinux\.o\z};
	return if !/\.k?o$/ || !-f;
	open my $fh, '<:raw', $_ or return;
	my $length = read $fh, my $ident, 18;
	close $fh;
	return if $length != 18 || $ident !~ /\A\x7fELF.{12}\x01\x00\z/s;
	push @objects, $_;
} }, $tree);
cmp_ok(scalar @objects, '>', 0, "there are objects in $tree");

my ($with, $without, $sites) = (0, 0, 0);
my @differ;
for my $object (@objects) {
	my $view = view($object);
	my $recorded = grep { $_->{name} eq '__mcount_loc' } values %{$view->{section}};
	my $copy = "$DIR/copy.o";

	# objcopy renumbers sections and symbols, so the copy with the table of gcc goes through
	# objcopy, too.
	need('objcopy', '-R', '__mcount_loc', '-R', '.rela__mcount_loc', $object, $copy);
	my $stripped = slurp($copy);
	my ($status, $out, $err) = record($copy);
	my $new = view($copy);
	my ($ours, $theirs) = (listed($new), $recorded ? listed($view) : '');

	spew("$DIR/stripped.o", $stripped);
	if ("$status$out$err" ne '0') {
		push @differ, "$object: $out$err";
	} elsif ($ours ne $theirs) {
		push @differ, "$object: other sites";
	} elsif (!$recorded && slurp($copy) ne $stripped) {
		push @differ, "$object: no sites, but changed";
	} elsif (my $difference = same_but_for_tables("$DIR/stripped.o", $new)) {
		push @differ, "$object: $difference";
	}
	$recorded ? $with++ : $without++;
	$sites += split / /, $theirs;
}
is_deeply(\@differ, [], 'the same sites as gcc -mrecord-mcount');
cmp_ok($with, '>', 0, "$with objects with $sites sites, $without without");

done_testing();
