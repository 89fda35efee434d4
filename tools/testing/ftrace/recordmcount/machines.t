#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# Other machines: both byte orders, both word sizes, relocations with and without addend. The code
# is written by hand and is what the compiler emits for -pg. The results are compared with the machine's
# own objdump and ld.

use strict;
use warnings;
no warnings 'portable';	# 64 bit numbers
use FindBin;
use lib $FindBin::Bin;
use File::Copy qw(copy);
use Test::More;
use Binutils;

# Prefix of the tools, options of as and ld, the function, a head of a function that calls it,
# code that refers to it without a call, and the instruction that is the site for objdump.
my %machine = (
	'i386' => ['', '--32', '-melf_i386', 'mcount', 'call mcount', 'movl $mcount, %eax', qr/call/],
	'arm' => ['arm-linux-gnueabi-', '', '', '__gnu_mcount_nc',
		"push {lr}\nbl __gnu_mcount_nc", 'ldr r0, =__gnu_mcount_nc', qr/\bbl\b/],
	'arm, big endian' => ['arm-linux-gnueabi-', '-EB', '-EB', '__gnu_mcount_nc',
		"push {lr}\nbl __gnu_mcount_nc", 'nop', qr/\bbl\b/],
	'arm, thumb' => ['arm-linux-gnueabi-', '-mthumb -march=armv7-a', '', '__gnu_mcount_nc',
		"push {lr}\nbl __gnu_mcount_nc", 'movw r0, #:lower16:__gnu_mcount_nc', qr/\bbl\b/],
	'aarch64' => ['aarch64-linux-gnu-', '', '', '_mcount', "mov x0, x30\nbl _mcount",
		'adrp x0, _mcount', qr/\bbl\b/],
	'aarch64, big endian' => ['aarch64-linux-gnu-', '-EB', '-EB', '_mcount', "mov x0, x30\nbl _mcount",
		'ldr x0, =_mcount', qr/\bbl\b/],
	'mips' => ['mips-linux-gnu-', '-mabi=32 -march=mips32r2', '-melf32btsmip', '_mcount',
		".set noreorder\n.set noat\nmove \$1,\$31\njal _mcount\naddiu \$29,\$29,-8",
		"lui \$2,%hi(_mcount)\naddiu \$2,\$2,%lo(_mcount)", qr/jal/],
	'mips, module' => ['mips-linux-gnu-', '-mabi=32 -march=mips32r2', '-melf32btsmip', '_mcount',
		"lui \$3,%hi(_mcount)\naddiu \$3,\$3,%lo(_mcount)\nmove \$1,\$31\njalr \$3\naddiu \$29,\$29,-8",
		"lui \$2,%hi(_mcount)\naddiu \$2,\$2,%lo(_mcount)", qr/lui\tv1/],
	'mips, little endian' => ['mips-linux-gnu-', '-EL -mabi=32 -march=mips32r2', '-EL -melf32ltsmip', '_mcount',
		"lui \$3,%hi(_mcount)\naddiu \$3,\$3,%lo(_mcount)\njalr \$3",
		"lui \$2,%hi(_mcount)\naddiu \$2,\$2,%lo(_mcount)", qr/lui\tv1/],
	'mips64, little endian' => ['mips64el-linux-gnuabi64-', '-march=mips64r2', '', '_mcount',
		".set noat\nmove \$1,\$31\njal _mcount", "lui \$2,%hi(_mcount)\ndaddiu \$2,\$2,%lo(_mcount)", qr/jal/],
	'mips64, big endian' => ['mips64el-linux-gnuabi64-', '-EB -march=mips64r2', '-EB -melf64btsmip', '_mcount',
		".set noat\nmove \$1,\$31\njal _mcount", "lui \$2,%hi(_mcount)\ndaddiu \$2,\$2,%lo(_mcount)", qr/jal/],
	'powerpc' => ['powerpc-linux-gnu-', '', '', '_mcount', "mflr 0\nstw 0,4(1)\nbl _mcount",
		'lis 9,_mcount@ha', qr/\bbl\b/],
	'powerpc, position independent' => ['powerpc-linux-gnu-', '', '', '_mcount', "mflr 0\nbl _mcount\@plt",
		'lis 9,_mcount@ha', qr/\bbl\b/],
	'powerpc64, big endian' => ['powerpc64-linux-gnu-', '-mbig', '', '._mcount', "mflr 0\nbl ._mcount\nnop",
		'addis 9,2,_mcount@toc@ha', qr/\bbl\b/],
	'powerpc64, little endian' => ['powerpc64-linux-gnu-', '-mlittle', '-EL -melf64lppc', '_mcount',
		"mflr 0\nbl _mcount\nnop", 'addis 9,2,_mcount@toc@ha', qr/\bbl\b/],
	'powerpc64, no toc' => ['powerpc64-linux-gnu-', '-mlittle -mpower10', '-EL -melf64lppc', '_mcount',
		"mflr 0\nbl _mcount\@notoc", 'nop', qr/\bbl\b/],
	's390x, fentry' => ['s390x-linux-gnu-', '', '', '__fentry__', 'brasl %r0,__fentry__',
		'larl %r1,__fentry__', qr/brasl/],
	's390x, mcount' => ['s390x-linux-gnu-', '', '', '_mcount', "stg %r14,8(%r15)\nbrasl %r14,_mcount\@PLT\nlg %r14,8(%r15)",
		'larl %r1,_mcount', qr/brasl/],
	'sparc64' => ['sparc64-linux-gnu-', '-64', '', '_mcount', "save %sp,-176,%sp\ncall _mcount\nnop",
		'sethi %hi(_mcount), %g1', qr/call/],
	'sparc' => ['sparc64-linux-gnu-', '-32', '-melf32_sparc', '_mcount', "save %sp,-96,%sp\ncall _mcount\nnop",
		'sethi %hi(_mcount), %g1', qr/call/],
	'riscv64' => ['riscv64-linux-gnu-', '-mno-relax -march=rv64gc', '', '_mcount', "addi sp,sp,-16\ncall _mcount",
		'lui a0,%hi(_mcount)', qr/auipc/],
	'riscv32' => ['riscv64-linux-gnu-', '-mno-relax -march=rv32gc -mabi=ilp32', '-melf32lriscv', '_mcount',
		"addi sp,sp,-16\ncall _mcount", 'lui a0,%hi(_mcount)', qr/auipc/],
	'sh4' => ['sh4-linux-gnu-', '', '', '_mcount',
		".align 2\nmov.l 1f,r1\nsts.l pr,\@-r15\nmova 2f,r0\njmp \@r1\nlds r0,pr\n.align 2\n1: .long _mcount\n2: lds.l \@r15+,pr",
		'nop', qr/./],
);

for my $name (sort keys %machine) {
	my ($prefix, $as, $ld, $callee, $head, $other, $insn) = @{$machine{$name}};

	# Two sections with sites; the second has no other symbol than a weak one.
	my $object = assemble('m', <<"END", "${prefix}as", split / /, $as);
	.text
	.globl f1
	.type f1, %function
f1:	$head
	.balign 8
	.type f2, %function
f2:	$head
	$other
	.balign 8
	.section .text.other, "ax"
	.weak w1
w1:	$head
	.balign 8
	.data
	.balign 8
	.long f1, w1
END
	copy($object, "$DIR/before.o");
	my ($status, $out, $err) = record($object);

	is("$status$out$err", '0', "$name: succeeds in silence");
	is(listed($object), calls("$DIR/before.o", "${prefix}objdump", $insn), "$name: the sites of objdump");
	cmp_ok(scalar(split / /, listed($object)), '==', 3, "$name: three of them");
	is(same_but_for_tables("$DIR/before.o", $object), '', "$name: all else is as it was");
	is(join("\n", complaints($object)), join("\n", complaints("$DIR/before.o")), "$name: readelf has no complaint");

	# The linker's opinion on the addresses, which needs addends and byte order to be right.
	my $functions = assemble('callee', join("\n", map { ".globl $_\n$_: .long 0" } $callee,
		$callee =~ /^\.(.*)/ ? $1 : ()), "${prefix}as", split / /, $as);
	spew("$DIR/m.lds", 'SECTIONS { . = 0x100000; .text : { *(.text) *(.text.other) *(.opd) *(.got*) *(.toc) *(.branch_lt) }'
		. ' .table : { start = .; *(__mcount_loc) stop = .; } .data : { *(.data) } /DISCARD/ : { *(.ARM*) } }');
	need("${prefix}ld", (split / /, $ld), qw(--no-warn-mismatch -e f1 -T), "$DIR/m.lds", '-o', "$DIR/m", $object, $functions);

	my $word = need('readelf', '-h', $object) =~ /ELF64/ ? 16 : 8;
	my $big = need('readelf', '-h', $object) =~ /big endian/;
	my $hex = join '', map { s/ //gr } need('readelf', '-x', '.table', "$DIR/m") =~ /^  0x[0-9a-f]+ ([0-9a-f ]{35})/gm;
	my @table = map { hex($big ? $_ : join '', reverse m/../g) } $hex =~ /([0-9a-f]{$word})/g;
	my %at = reverse map { /^([0-9a-f]+) \S (\S+)/ } split /\n/, need('nm', "$DIR/m");
	my @expect = map { (hex($at{/^\.text#0/ ? 'f1' : 'w1'}) & ~1) + hex s/.*\+//r } split / /, listed($object);

	is_deeply([map { sprintf '%x', $_ & ~1 } sort { $a <=> $b } @table],
		[map { sprintf '%x', $_ } sort { $a <=> $b } @expect], "$name: the linker's table");
}

# Linker scripts of other architectures than x86 may discard .exit.text, and then nothing may refer
# to it.
for my $case (['', 'call __fentry__', 2], ['aarch64-linux-gnu-', 'bl _mcount', 1]) {
	my ($prefix, $call, $sites) = @{$case};
	my $object = assemble('exit', <<"END", "${prefix}as");
	.text
f:	$call
	.section .exit.text, "ax"
g:	$call
END

	is((record($object))[0], 0, "${prefix}as: an object with .exit.text");
	is(scalar(my @sites = split ' ', listed($object)), $sites, "${prefix}as: sites of .exit.text only where it stays");
}

# What the linker may shorten has no fixed offsets.
my $relax = assemble('relax', 'f: call _mcount', 'riscv64-linux-gnu-as', '-mrelax', '-march=rv64gc');
my $before = slurp($relax);
my ($status, undef, $err) = record($relax);
isnt($status, 0, 'riscv64 with relaxation: fails');
like($err, qr/\Arecordmcount\.pl: \Q$relax\E: section \d+ .*relaxation.*\n\z/, 'riscv64 with relaxation: says so');
ok(slurp($relax) eq $before, 'riscv64 with relaxation: untouched');

done_testing();
