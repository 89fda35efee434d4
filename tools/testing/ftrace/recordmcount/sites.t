#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# Objects of the compiler: recordmcount.pl lists the same sites as gcc -mrecord-mcount and objdump,
# does not change the rest of the object, and the linker makes the right table.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use File::Copy qw(copy);
use Test::More;
use Binutils;

my $C = <<'END';
int g(int), h(int);
static __attribute__((noinline)) int s(int a) { return g(a) + 1; }
int f(int a) { return s(a) * g(a); }
__attribute__((weak)) int w(int a) { return h(a) + 3; }
__attribute__((section(".init.text"))) int in(int a) { return g(a) + 2; }
__attribute__((section(".exit.text"))) int out(int a) { return g(a) + 4; }
__attribute__((no_instrument_function)) int n(int a) { return g(a) + 5; }
__attribute__((section(".noinstr.text"), no_instrument_function)) int o(int a) { return g(a) + 6; }
__attribute__((cold)) int c(int a) { return h(a) + 7; }
int (*const table[])(int) = { f, s, w, in, c };
END

my @plain = qw(-fno-pie -fno-asynchronous-unwind-tables);
my %build = (
	'fentry' => ['-mfentry', @plain],
	'fentry, position independent' => [qw(-mfentry -fpie)],
	'fentry, with endbr64' => [qw(-mfentry -fcf-protection=branch), @plain],
	'fentry, with debug information' => [qw(-mfentry -g), @plain],
	'fentry, function sections' => [qw(-mfentry -ffunction-sections), @plain],
	'fentry, kernel code model' => [qw(-mfentry -mcmodel=kernel -mno-red-zone), @plain],
	'mcount' => ['-mno-fentry', @plain],
	'mcount, position independent' => [qw(-mno-fentry -fpic)],
	'i386, fentry' => [qw(-m32 -mfentry), @plain],
	'i386, mcount' => [qw(-m32 -mno-fentry), @plain],
	'i386, mcount, position independent' => [qw(-m32 -mno-fentry -fpic)],
	'optimised for size' => [qw(-mfentry -Os), @plain],
	'not optimised' => [qw(-mfentry -O0), @plain],
);

for my $name (sort keys %build) {
	my $ours = compile('ours', $C, @{$build{$name}});
	my $gcc = compile('gcc', $C, @{$build{$name}}, '-mrecord-mcount');

	copy($ours, "$DIR/before.o");
	my ($status, $out, $err) = record($ours);
	is("$status$out$err", '0', "$name: succeeds in silence");
	is(listed($ours), listed($gcc), "$name: the sites of gcc -mrecord-mcount");
	is(listed($ours), calls("$DIR/before.o"), "$name: the sites of objdump");
	cmp_ok(scalar(split / /, listed($ours)), '==', 6, "$name: six of them");
	is(same_but_for_tables("$DIR/before.o", $ours), '', "$name: all else is as it was");
	is(join("\n", complaints($ours)), '', "$name: readelf has no complaint");

	my $done = slurp($ours);
	is((record($ours))[0], 0, "$name: a second run succeeds");
	ok(slurp($ours) eq $done, "$name: and changes nothing");
	$done = slurp($gcc);
	is((record($gcc))[0], 0, "$name: an object with the table of gcc is accepted");
	ok(slurp($gcc) eq $done, "$name: and left alone");
}

# Objects without calls.
my $quiet = assemble('quiet', "f: ret\n.globl f");
for my $object ($quiet,
		assemble('address', ".data\n.quad __fentry__"),
		assemble('taken', "mov \$__fentry__, %eax\nlea __fentry__(%rip), %rax\njmp __fentry__"),
		assemble('other', "call my_mcount\ncall __fentry__2\ncall xmcount"),
		assemble('data', ".section .rodata\n.byte 0xe8\n.long __fentry__ - . - 4")) {
	my $before = slurp($object);
	my ($status, $out, $err) = record($object);

	is("$status$out$err", '0', "$object: no calls, succeeds");
	ok(slurp($object) eq $before, "$object: unchanged");
}

# A name that is the tail of another is not in the string table by itself.
my $tail = assemble('tail', "f: call mcount\ncall _mcount\ncall a_mcount\nmy_mcount:");
record($tail);
is(listed($tail), '.text#0+0 .text#0+5', 'names that share their tail with others');

# The sites of a section are in the order of their addresses.
my $many = assemble('order', "f:\n.rept 25\ncall __fentry__\n.endr");
record($many);
my $view = view($many);
my ($table) = grep { $view->{section}{$view->{section}{$_}{info}}{name} eq '__mcount_loc' } keys %{$view->{reloc}};
is(join(' ', map { $_->{addend} } sort { $a->{offset} <=> $b->{offset} } @{$view->{reloc}{$table}}),
	join(' ', map { 5 * $_ } 0 .. 24), 'the sites of a section are in order');

# Several files, the first of which fails.
my @many = map { compile("many$_", $C, '-mfentry', @plain) } 1 .. 3;
spew("$DIR/bad.o", 'nothing');
my ($status, undef, $err) = record("$DIR/bad.o", @many);
isnt($status, 0, 'several files, one bad: fails');
is($err, "recordmcount.pl: $DIR/bad.o: not an ELF object\n", 'several files, one bad: says which');
isnt(listed($_), '', "several files, one bad: $_ is done") for @many;

# Partial links of objects that have a table, and of objects that get a table afterwards.
my $D = $C =~ s/\b(f|w|in|out|n|o|c|table)\b(?=[\[(])/$1_2/gr =~ s/\{ f,.*\}/{ 0 }/r;
my @first = (compile('p1', $C, '-mfentry', @plain), compile('p2', $D, '-mfentry', @plain));
need('ld', '-r', '-o', "$DIR/late.o", @first);
copy("$DIR/late.o", "$DIR/before.o");
is((record("$DIR/late.o"))[0], 0, 'ld -r, then recordmcount.pl');
is(listed("$DIR/late.o"), calls("$DIR/before.o"), 'ld -r, then recordmcount.pl: the sites');
is(same_but_for_tables("$DIR/before.o", "$DIR/late.o"), '', 'ld -r, then recordmcount.pl: all else');
record(@first);
for my $ld ('ld', 'ld.lld') {
	spew("$DIR/module.lds", 'SECTIONS { __mcount_loc 0 : { *(__mcount_loc) } }');
	need($ld, '-r', '-T', "$DIR/module.lds", '-o', "$DIR/early.o", @first);
	is(listed("$DIR/early.o"), calls("$DIR/early.o"), "recordmcount.pl, then $ld -r: the sites");
	my @tables = grep { $_->{name} eq '__mcount_loc' } values %{view("$DIR/early.o")->{section}};
	is(scalar @tables, 1, "recordmcount.pl, then $ld -r: one section in a module");
}
is((record("$DIR/early.o"))[0], 0, 'a partial link of objects with tables is accepted');

# The final link. The table has to hold the addresses of all calls that are left.
spew("$DIR/kernel.lds", <<'END');
ENTRY(f)
SECTIONS {
	. = 0x100000;
	.text : { *(.text .text.*) *(.init.text) }
	.init.data : { *(.init.data) . = ALIGN(8); start = .; *(__mcount_loc) stop = .; }
	/DISCARD/ : { *(.exit.text) }
}
END
my $callees = assemble('callees', join "\n", map { ".globl $_\n$_: ret" } qw(g h __fentry__));
my $data = assemble('initdata', ".section .init.data,\"aw\"\n.quad 7");

sub linked {
	my ($ld, @arguments) = @_;

	need($ld, '-T', "$DIR/kernel.lds", '-o', "$DIR/kernel", @arguments);
	my %symbol = reverse map { /^([0-9a-f]+) \S (\S+)/ } split /\n/, need('nm', "$DIR/kernel");
	my $dump = need('objdump', '-s', '-j', '.init.data', '--start-address', "0x$symbol{start}",
		'--stop-address', "0x$symbol{stop}", "$DIR/kernel");
	my @table = unpack 'Q<*', pack 'H*', join '', map { s/ //gr } $dump =~ /^ [0-9a-f]{4,} ([0-9a-f ]{35})/gm;
	my @calls = need('objdump', '-d', "$DIR/kernel") =~ /^\s*([0-9a-f]+):.*call.*<__fentry__>/gm;

	return (join(' ', map { sprintf '%x', $_ } sort { $a <=> $b } @table), join(' ', @calls), \%symbol);
}

for my $ld ('ld', 'ld.lld') {
	my @objects = map { compile($_->[0], $_->[1], '-mfentry', '-ffunction-sections', @plain) }
		['k1', $C =~ s/.*exit.text.*\n//r], ['k2', $D =~ s/.*exit.text.*\n//r];
	my $strong = compile('strong', 'int w(int a) { return a; }', '-mfentry', @plain);
	my @linked = map { copy($_, "$_.linked.o") && "$_.linked.o" } @objects, $strong;
	record(@objects, $strong);
	record('-l', @linked);
	my %flags = map { $_->{flags} => 1 } grep { $_->{name} eq '__mcount_loc' } map { values %{view($_)->{section}} } @linked;
	is(join(' ', keys %flags), 'AL', "$ld, -l: tables are linked to their text");

	my ($table, $calls) = linked($ld, @objects, $strong, $callees, $data);
	is($table, $calls, "$ld: the table has every call");

	($table, $calls, my $symbol) = linked($ld, '--gc-sections', @linked, $callees, $data);
	is($table, $calls, "$ld --gc-sections: the table has every call that is left");
	ok($symbol->{f} && !$symbol->{f_2}, "$ld --gc-sections: drops functions nobody refers to");
}
{
	my @objects = (compile('x1', $C, '-mfentry', @plain));
	record('-l', @objects);
	my ($table, $calls) = linked('ld', @objects, $callees, $data);
	is($table, $calls, 'ld: no site of a discarded section');
}

# Groups: the linker keeps one of several copies of a function, and its table only.
my $comdat = '.section .text.inl,"axG",@progbits,inl,comdat' . "\n.weak inl\ninl: call __fentry__\nret";
my @copies = map { assemble("copy$_", ".text\n.globl f$_\nf$_: call __fentry__\njmp inl\n$comdat") } '', 2;
copy($copies[0], "$DIR/before.o");
is((record(@copies))[0], 0, 'group: succeeds');
is(same_but_for_tables("$DIR/before.o", $copies[0]), '', 'group: all else is as it was');
like(need('readelf', '-gW', $copies[0]), qr/\[inl\] contains 4 sections:.*inl.*inl.*__mcount_loc.*__mcount_loc/s,
	'group: the table is a member');
is(join("\n", complaints($copies[0])), '', 'group: readelf has no complaint');
for my $ld ('ld', 'ld.lld') {
	my ($table, $calls) = linked($ld, @copies, $callees, $data);
	is($table, $calls, "group: $ld keeps one");
	cmp_ok(scalar(split / /, $table), '==', 3, "group: $ld has three sites");
}

# Section symbols that the assembler dropped, more of them than there are global symbols, and fewer.
my $hidden = join "\n", map { ".section .text.$_,\"ax\"\ncall __fentry__\ncall g$_" } 1 .. 9;
for my $globals ('', join "\n", map { ".globl v$_\nv$_ = $_\n.data\n.quad g$_\n" } 1 .. 30) {
	my $object = assemble('hidden', "$hidden\n$globals");
	copy($object, "$DIR/before.o");
	unlike(need('readelf', '-sW', $object), qr/ SECTION .* \.text\.5/, 'the assembler made no section symbol');
	is((record($object))[0], 0, 'section symbols are made');
	is(listed($object), calls("$DIR/before.o"), 'section symbols are made: the sites');
	is(same_but_for_tables("$DIR/before.o", $object), '', 'section symbols are made: all else');
	is(join("\n", complaints($object)), '', 'section symbols are made: readelf has no complaint');
}
{
	# f1 has to be the symbol that makes room, and a group has it for its name.
	my $object = assemble('name', ".section .text.f,\"axG\",\@progbits,f1,comdat\n.globl f1\nf1: call __fentry__\ncall f1");
	copy($object, "$DIR/before.o");
	is((record($object))[0], 0, 'the symbol of a group moves');
	my ($was, $is) = map { need('readelf', '-gW', $_) =~ /'.* \[(\S+)\] contains/ ? $1 : 'none' } "$DIR/before.o", $object;
	is($was, 'f1', 'the symbol of a group moves: it has one');
	is($is, $was, 'the symbol of a group moves: the group follows');
	is(same_but_for_tables("$DIR/before.o", $object), '', 'the symbol of a group moves: all else');
}

done_testing();
