#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# Truncated, corrupted and hostile objects: recordmcount.pl either fails with one line and does not
# change the file, or makes the table. Then readelf and ld must find no error that they did not find
# before.

use strict;
use warnings;
no warnings 'portable';	# 64 bit numbers
use FindBin;
use lib $FindBin::Bin;
use File::Copy qw(copy);
use Test::More;
use Binutils;

my $code = join("\n", map { ".globl f$_\n.type f$_, \@function\nf$_: call __fentry__\ncall f1\nret\n.size f$_, .-f$_" } 1 .. 3)
	. "\n.section .text.inl,\"axG\",\@progbits,inl,comdat\n.weak inl\ninl: call __fentry__\n.data\n.long f2\n";
my %object = (
	'64 bit' => assemble('o64', $code),
	'32 bit' => assemble('o32', $code, '--32'),
	'big endian' => assemble('obe', ".globl f1\nf1: bl _mcount\nbl f1\n.section .text.a,\"ax\"\n.weak w\nw: bl _mcount", 'powerpc-linux-gnu-as'),
);
for my $name (sort keys %object) {
	copy($object{$name}, "$DIR/check.o");
	is((record("$DIR/check.o"))[0], 0, "$name: the object itself is accepted");
	isnt(listed("$DIR/check.o"), '', "$name: and gets a table");
}

# Run recordmcount.pl on variants of an object, given as [what, contents]. Checks every result, and
# returns how many of them were refused, changed, and left alone in silence.
sub check {
	my ($title, @variants) = @_;
	my @files = map { spew("$DIR/v$_.o", $variants[$_][1]) } 0 .. $#variants;
	my (%count, %error, @stray, @wrong);

	my ($status, $out, $err) = record(@files);

	for (split /\n/, $err) {
		if (/^recordmcount\.pl: \Q$DIR\E\/v(\d+)\.o: (.+)$/ && !exists $error{$1} && !/ line \d+/) {
			$error{$1} = $2;
		} else {
			push @stray, $_;
		}
	}
	push @stray, $out if $out ne '';
	push @stray, "exit status $status" if $status != (%error ? 256 : 0);

	for my $i (0 .. $#variants) {
		my ($what, $before) = @{$variants[$i]};
		my $after = slurp($files[$i]);

		if ($error{$i}) {
			$count{refused}++;
			push @wrong, "$what: refused but changed" if $after ne $before;
		} elsif ($after eq $before) {
			$count{silent}++;
		} else {
			$count{changed}++;
			spew("$DIR/before.o", $before);
			my %old = map { $_ => 1 } complaints("$DIR/before.o");
			my @new = grep { !$old{$_} } complaints($files[$i]);
			push @wrong, "$what: readelf: $new[0]" if @new;

			my @ld = $title =~ /64 bit/ ? 'ld' : $title =~ /32 bit/ ? qw(ld -melf_i386) : 'powerpc-linux-gnu-ld';
			push @wrong, "$what: ld refuses the result: " . (run(@ld, '-r', '-o', "$DIR/r", $files[$i]))[2]
				if (run(@ld, '-r', '-o', "$DIR/r", $files[$i]))[0]
				&& !(run(@ld, '-r', '-o', "$DIR/r", "$DIR/before.o"))[0];
		}
	}
	is_deeply(\@stray, [], "$title: no output but one line for each refused file");
	is_deeply(\@wrong, [], "$title: what is refused is untouched, what is done is well-formed");
	unlink @files;
	return \%count;
}

# Every truncation. The section headers are at the end, so none can be done.
for my $name (sort keys %object) {
	my $whole = slurp($object{$name});
	my $count = check("$name, truncated", map { ["at $_", substr $whole, 0, $_] } 0 .. length($whole) - 1);
	is($count->{refused}, length $whole, "$name, truncated: every one is refused");
}
{
	copy($object{'64 bit'}, "$DIR/done.o");
	record("$DIR/done.o");
	my $whole = slurp("$DIR/done.o");
	my $count = check('64 bit, processed and truncated', map { ["at $_", substr $whole, 0, $_] } 0 .. length($whole) - 1);
	is($count->{refused}, length $whole, '64 bit, processed and truncated: every one is refused');
}

# Flipped bits, the same ones every time.
my $seed = 20240607;
sub random {
	my ($below) = @_;

	$seed = ($seed * 1103515245 + 12345) % 2147483648;
	return int($seed / 65536) % $below;
}
for my $name (sort keys %object) {
	my $whole = slurp($object{$name});
	my @variants;

	for (1 .. 700) {
		my ($bad, @flips) = $whole;
		for (1 .. 1 + random(3)) {
			# Half of them where they hurt: in the headers.
			my $at = random(2) ? random(length $whole) : random(2) ? random(64)
				: length($whole) - 1 - random(length($whole) / 2);
			my $bit = random(8);
			substr $bad, $at, 1, chr(ord(substr $bad, $at, 1) ^ 1 << $bit);
			push @flips, "$at.$bit";
		}
		push @variants, ["bits @flips", $bad];
	}
	my $count = check("$name, corrupted", @variants);
	cmp_ok($count->{refused}, '>', 50, "$name, corrupted: many are refused");
	cmp_ok($count->{changed}, '>', 50, "$name, corrupted: many are done");
}

# Chosen lies. Fields of a section header, as in its order.
my %field = (name => 0, type => 4, flags => 8, offset => 24, size => 32, link => 40, info => 44, entsize => 56);
my $good = slurp($object{'64 bit'});
my $sections = view($object{'64 bit'})->{section};
my %number = map { $_->{name} => $_->{number} } values %{$sections};
my $shoff = unpack 'x40 Q<', $good;

sub lie {
	my ($section, $field, $value) = @_;
	my $bad = $good;
	my $wide = $field =~ /^(?:flags|offset|size|entsize)$/;

	substr $bad, $shoff + 64 * $number{$section} + $field{$field}, $wide ? 8 : 4, pack $wide ? 'Q<' : 'L<', $value;
	return $bad;
}

sub patch {
	my ($at, $form, $value) = @_;
	my $bad = $good;

	substr $bad, $at, length pack($form, 0), pack $form, $value;
	return $bad;
}

my ($symtab, $strtab, $rela, $text) = map { $sections->{$number{$_}} } qw(.symtab .strtab .rela.text .text);
my $symbols = $symtab->{size} / 24;
my @lies = (
	['section headers outside the file', qr/offset/, patch(40, 'Q<', length $good)],
	['section headers at the end of the address space', qr/offset/, patch(40, 'Q<', ~0)],
	['section headers over the ELF header', qr/./, patch(40, 'Q<', 0x10)],
	['wrong size of section headers', qr/size of a section header/, patch(58, 'S<', 0)],
	['a first section header that is another section', qr/section 0 has a type/, patch($shoff + 4, 'L<', 2)],
	['more sections than there is file', qr/offset/, patch(60, 'S<', 0xfeff)],
	['wrong file version', qr/not an ELF/, patch(6, 'C', 2)],
	['unknown class', qr/not an ELF/, patch(4, 'C', 3)],
	['unknown byte order', qr/not an ELF/, patch(5, 'C', 0)],
	['LLVM bitcode', qr/LLVM bitcode/, patch(0, 'N', 0x4243c0de)],
	['LLVM bitcode with a wrapper', qr/LLVM bitcode/, patch(0, 'N', 0xdec0170b)],
	['other byte order', qr/./, patch(5, 'C', 2)],
	['program', qr/not a relocatable/, patch(16, 'S<', 2)],
	['unknown machine', qr/machine 9999 .*not supported/, patch(18, 'S<', 9999)],
	['section names that do not exist', qr/no string table/, patch(62, 'S<', 999)],
	['section names that are code', qr/no string table/, patch(62, 'S<', $text->{number})],
	['huge number of sections', qr/offset/, do {
		my $bad = patch(60, 'S<', 0);
		substr $bad, $shoff + 32, 8, pack 'Q<', 1 << 60;
		$bad;
	}],
	['symbol table is its own string table', qr/no string table/, lie('.symtab', 'link', $symtab->{number})],
	['symbol names that do not exist', qr/no string table/, lie('.symtab', 'link', 0xffffffff)],
	['symbols outside the file', qr/offset/, lie('.symtab', 'offset', length $good)],
	['symbols wrap around', qr/offset/, lie('.symtab', 'offset', ~0 - 7)],
	['huge symbol table', qr/offset/, lie('.symtab', 'size', 24 << 55)],
	['symbol size 0', qr/entry size/, lie('.symtab', 'entsize', 0)],
	['symbol size 1', qr/entry size/, lie('.symtab', 'entsize', 1)],
	['half a symbol', qr/entry size/, lie('.symtab', 'size', $symtab->{size} - 1)],
	['more local symbols than symbols', qr/local symbols/, lie('.symtab', 'info', $symbols + 1)],
	['2^32 - 1 local symbols', qr/local symbols/, lie('.symtab', 'info', 0xffffffff)],
	['no local symbols', qr/local symbols/, lie('.symtab', 'info', 0)],
	['two symbol tables', qr/two symbol tables/, lie('.data', 'type', 2)],
	['huge string table', qr/offset/, lie('.strtab', 'size', ~0)],
	['strings outside the file', qr/offset/, lie('.strtab', 'offset', 1 << 63)],
	['relocation size 0', qr/entry size/, lie('.rela.text', 'entsize', 0)],
	['relocations of the other kind', qr/entry size/, lie('.rela.text', 'type', 9)],
	['half a relocation', qr/entry size/, lie('.rela.text', 'size', $rela->{size} - 1)],
	['relocations outside the file', qr/offset/, lie('.rela.text', 'offset', length($good) - 1)],
	['relocations of nothing', qr/does not exist/, lie('.rela.text', 'info', 0xffffffff)],
	['relocations with another symbol table', qr/another symbol table/, lie('.rela.text', 'link', 1)],
	['code outside the file', qr/offset/, lie('.text', 'offset', 1 << 62)],
	['data outside the file', qr/offset/, lie('.data', 'offset', length($good) - 1)],
	['data wraps around', qr/offset/, lie('.data', 'size', ~0)],
	['a link to a section that does not exist', qr/does not exist/, lie('.data', 'link', scalar keys %{$sections})],
	['information on a section that does not exist', qr/does not exist/, do {
		my $bad = lie('.data', 'info', scalar keys %{$sections});
		substr $bad, $shoff + 64 * $number{'.data'} + $field{flags}, 1, "\x43";
		$bad;
	}],
	['a symbol in a section that does not exist', qr/does not exist/,
		patch($symtab->{offset} + 24 * ($symbols - 1) + 6, 'S<', scalar keys %{$sections})],
	['less code than relocations', qr/outside section/, lie('.text', 'size', 2)],
	['a call before the code', qr/outside section/, patch($rela->{offset}, 'Q<', 0)],
	['a call behind the code', qr/outside section/, patch($rela->{offset}, 'Q<', $text->{size} - 3)],
	['a call at the end of the address space', qr/outside section/, patch($rela->{offset}, 'Q<', ~0)],
	['a symbol that does not exist', qr/symbol that does not exist/, patch($rela->{offset} + 24 + 12, 'L<', $symbols)],
	['group of a section that does not exist', qr/does not exist/,
		patch($sections->{$number{'.group'}}{offset} + 8, 'L<', scalar keys %{$sections})],
	['group that names no members', qr/is in no group/, lie('.group', 'size', 4)],
	['half a group', qr/entry size/, lie('.group', 'size', 6)],
	['half a word of a group', qr/entry size/, lie('.group', 'size', 2)],
	['indexes of sections that do not exist', qr/does not exist/, do {
		my $object = assemble('indexes', "f: call __fentry__\n.section .idx,\"a\"\n.fill 9, 4, 99");
		my %at = map { $_->{name} => $_ } values %{view($object)->{section}};
		my $bad = slurp($object);
		# One index for each symbol.
		substr $bad, unpack('x40 Q<', $bad) + 64 * $at{'.idx'}{number} + 4, 60,
			pack 'L<Q<Q<Q<Q<L<L<Q<Q<', 18, 0, 0, $at{'.idx'}{offset}, $at{'.symtab'}{size} / 6, $at{'.symtab'}{number}, 0, 4, 4;
		$bad;
	}],
	['too many names', qr/too many symbols/, do {
		my $many = join "\n", map { ".if 1\n.globl q$_\nq$_ = 0\n.endif" } 1 .. 99;
		my $object = assemble('names', "f: call __fentry__\n$many");
		my $bad = slurp($object);
		my $view = view($object);
		my %at = map { $_->{name} => $_ } values %{$view->{section}};
		my ($fentry) = grep { $view->{symbol}[$_]{name} eq '__fentry__' } 0 .. $#{$view->{symbol}};
		my $name = substr $bad, $at{'.symtab'}{offset} + 24 * $fentry, 4;
		substr $bad, $at{'.symtab'}{offset} + 24 * $_, 4, $name
			for grep { $view->{symbol}[$_]{name} =~ /^q/ } 0 .. $#{$view->{symbol}};
		$bad;
	}],
);
for my $lie (@lies) {
	my ($what, $reason, $bad) = @{$lie};
	my $file = spew("$DIR/lie.o", $bad);
	my ($status, $out, $err) = record($file);

	is($status, 256, "$what: exit status 1");
	like($err, qr/\Arecordmcount\.pl: \Q$file\E: [^\n]*\n\z/, "$what: one line");
	like($err, $reason, "$what: says why");
	ok(slurp($file) eq $bad, "$what: untouched");
}

# Nonsense in what is not needed does no harm.
{
	my $file = spew("$DIR/lie.o", lie('.data', 'name', 0xffffffff));
	is((record($file))[0], 0, 'a section name outside the names: succeeds');

	# The symbol of a section that is not at its start is no base for offsets.
	my $base = assemble('base', ".text\nf: call __fentry__\n.data\n.quad .text");
	copy($base, "$DIR/before.o");
	my ($table) = grep { $_->{name} eq '.symtab' } values %{view($base)->{section}};
	my ($symbol) = grep { view($base)->{symbol}[$_]{type} eq 'SECTION' } 1 .. 3;
	my $data = slurp($base);
	substr $data, $table->{offset} + 24 * $symbol + 8, 8, pack 'Q<', 4;
	spew($base, $data);
	is((record($base))[0], 0, 'section symbol with a value: succeeds');
	is(listed($base), calls("$DIR/before.o"), 'section symbol with a value: the sites');
	is(scalar(grep { $_->{type} eq 'SECTION' } @{view($base)->{symbol}}), 2, 'section symbol with a value: is not used');

	# A hint of LLVM refers to symbols by number, and is to be ignored once these have moved.
	my $hint = assemble('hint', ".globl f1\nf1: call __fentry__\n.section .llvm_addrsig,\"e\",\@0x6fff4c03\n.byte 1");
	my ($section) = grep { $_->{name} eq '.llvm_addrsig' } values %{view($hint)->{section}};
	($table) = grep { $_->{name} eq '.symtab' } values %{view($hint)->{section}};
	$data = slurp($hint);
	substr $data, unpack('x40 Q<', $data) + 64 * $section->{number} + $field{link}, 4, pack 'L<', $table->{number};
	spew($hint, $data);
	is((record($hint))[0], 0, 'LLVM address significance table: succeeds');
	is(view($hint)->{section}{$section->{number}}{link}, 0, 'LLVM address significance table: is no longer valid');
}

# A file of 1 TiB, nearly all hole, that says it has a string table as large.
{
	my $bad = lie('.strtab', 'size', 1 << 40);
	my $file = spew("$DIR/hole.o", $bad);
	truncate $file, 2 << 40 or diag("no file of 2 TiB here: $!");
	my ($status, undef, $err) = record($file);
	is($status, 256, 'strings of 1 TiB: exit status 1');
	like($err, qr/\Arecordmcount\.pl: \Q$file\E: (?:too large|truncated.*)\n\z/, 'strings of 1 TiB: one line');
	unlink $file;
}

done_testing();
