#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# 65,280 sections and more: section numbers and the number of sections do not fit into their usual
# fields.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use File::Copy qw(copy);
use Test::More;
use Binutils;

my $call = "call __fentry__\nret\n";
my %case = (
	# What is before the many sections, how many, and what is after them.
	'code with symbols behind them' => [".globl a\na: $call", 65300, ".section .text.z,\"ax\"\n.globl z\nz: $call"
		. "l: $call.section .text.y,\"ax\"\n$call.globl y\ny: jmp l\n.data\n.long .text.z"],
	'code without symbols behind them' => ['', 65300, ".section .text.z,\"ax\"\n$call"],
	'the tables pass the limit' => [".globl a\na: $call.section .text.b,\"ax\"\nb: $call.section .text.c,\"ax\"\nc: $call", 65265, ''],
	'just below the limit' => [".globl a\na: $call", 65269, ''],
);

for my $name (sort keys %case) {
	my ($first, $count, $last) = @{$case{$name}};
	my $object = assemble('many', join "\n", $first, (map { ".section .d$_,\"a\"" } 1 .. $count), $last);
	if ($name =~ /without/) {
		# The assembler makes .symtab_shndx even if no symbol needs it. Give the section
		# another type.
		my ($index) = need('readelf', '-SW', $object) =~ /\[\s*(\d+)\] \.symtab_shndx/;
		my $data = slurp($object);
		substr $data, unpack('x40 Q<', $data) + 64 * $index + 4, 4, pack 'L<', 1;
		spew($object, $data);
	}
	copy($object, "$DIR/before.o");
	my $before = need('readelf', '-h', $object);

	my ($status, $out, $err) = record($object);
	my $listed = listed($object);
	is("$status$out$err", '0', "$name: succeeds in silence");
	is($listed, calls("$DIR/before.o"), "$name: the sites of objdump");
	is(same_but_for_tables("$DIR/before.o", $object), '', "$name: all else is as it was");
	is(join("\n", complaints($object)), '', "$name: readelf has no complaint");

	my ($old, $new) = map { /Number of section headers:\s+(\d+)(?: \((\d+)\))?/ ? $2 // $1 : 0 }
		$before, need('readelf', '-h', $object);
	cmp_ok($new, '>', $old, "$name: $old sections become $new");
	cmp_ok($old, '<', 0xff00, "$name: from below") if $name =~ /limit/;
	cmp_ok($new, $name =~ /below/ ? '<' : '>=', 0xff00, "$name: to the right side of the limit");

	is(unpack('x60 S<', slurp($object)), $new < 0xff00 ? $new : 0, "$name: the count in the ELF header");

	# The addresses after a link, which for ld has to come without the many sections.
	my $callee = assemble('callee', ".globl __fentry__\n__fentry__: ret");
	spew("$DIR/many.lds", 'SECTIONS { .text : { *(.text .text.*) } .table : { *(__mcount_loc) } /DISCARD/ : { *(.d*) } }');
	need(qw(ld -e 0 -T), "$DIR/many.lds", '-o', "$DIR/many", $object, $callee);
	my $hex = join '', map { s/ //gr } need('readelf', '-x', '.table', "$DIR/many") =~ /^  0x[0-9a-f]+ ([0-9a-f ]{35})/gm;
	is(join(' ', map { sprintf '%x', $_ } sort { $a <=> $b } unpack 'Q<*', pack 'H*', $hex),
		join(' ', need('objdump', '-d', "$DIR/many") =~ /^\s*([0-9a-f]+):.*call.*<__fentry__>/gm), "$name: the linker's table");
}

done_testing();
