#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# Objects with tables from different sources in one link: of recordmcount.pl, of the compiler (an
# object that was built elsewhere), of objtool, and of "objtool klp diff", which copies the flags of
# a section but not what it is linked to. All of them meet in live patches and in modules with
# prebuilt objects.

use strict;
use warnings;
no warnings 'portable';	# 64 bit numbers
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Binutils;

my @options = qw(-O2 -mcmodel=kernel -mno-red-zone -fno-pic -fno-pie -fno-stack-protector
	-fno-asynchronous-unwind-tables -fcf-protection=none);

# Two functions in two sections, with names of their own.
sub source {
	my ($name) = @_;

	return "int out(int); int $name(int a) { return out(a) * 3; }\n"
		. "__attribute__((section(\".init.text\"))) int ${name}_init(int a) { return $name(a) + 1; }\n";
}

# A table as objtool writes it: one section, one entry a call, relocations against functions.
sub by_hand {
	my ($name, $flags) = @_;

	return assemble($name, <<"END");
	.text
	.globl $name
	.type $name, \@function
$name:	call __fentry__
	ret
	.size $name, . - $name
	.section __mcount_loc, "$flags"
	.quad $name
	.section .note.GNU-stack, "", \@progbits
END
}

my %object = (
	ours => compile('ours', source('ours'), '-pg', '-mfentry', @options),
	'ours as well' => compile('ours2', source('ours2'), '-pg', '-mfentry', @options),
	'of the compiler' => compile('cc', source('cc'), '-pg', '-mfentry', '-mrecord-mcount', @options),
	'of objtool' => by_hand('objtool', 'a'),
);
record($object{ours}, $object{'ours as well'});

# klp diff takes the flags from an object of ours.
my $flags = (grep { $_->{name} eq '__mcount_loc' } values %{view($object{ours})->{section}})[0]{flags};
unlike($flags, qr/L/, 'a table of ours is not linked to its text unless that was asked for');
$object{'of klp diff'} = by_hand('klp', $flags =~ /L/ ? 'ao' : 'a');

spew("$DIR/module.lds", 'SECTIONS { __mcount_loc 0 : { *(__mcount_loc) } }');
my @names = sort keys %object;
for my $ld ('ld', 'ld.lld') {
	for my $lds ([], ['-T', "$DIR/module.lds"]) {
		my $how = "$ld -r @$lds" =~ s/\/\S*\///r;

		for my $set ((map { [$_, 'ours'] } grep { $_ ne 'ours' } @names), \@names) {
			my @objects = map { $object{$_} } @$set;
			my $what = "$how, " . (@$set == 2 ? "$set->[0] and ours" : 'all of them');
			my ($status, undef, $err) = run($ld, '-r', '-z', 'noexecstack', @$lds, '-o', "$DIR/mixed.o", @objects);

			is("$status $err", '0 ', "$what: links");
			is(listed("$DIR/mixed.o"), calls("$DIR/mixed.o"), "$what: the sites");
			my @tables = grep { $_->{name} eq '__mcount_loc' } values %{view("$DIR/mixed.o")->{section}};
			is(scalar @tables, 1, "$what: one table, as the module loader expects");
		}
	}
}

done_testing();
