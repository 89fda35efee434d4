# SPDX-License-Identifier: GPL-2.0-only
#
# Mutations of ELF objects, for fuzz.
#
# The idea: a mutation knows what stands where in the object as it was, and sets one thing to a
# value that a reader can stumble over: a limit of a number, the size of the file, a value from
# elsewhere in the object. Bytes chosen blindly would rarely get past the first checks.

package Mutate;
use strict;
use warnings;
no warnings 'portable';	# 64 bit numbers
use Exporter 'import';
use List::Util qw(min);

our @EXPORT = qw(mutate);

# Fields in their order, each with its bytes; "w" is a word of 4 or 8 bytes.
my %FORM = (
	ident => 'magic:4 class:1 order:1 version:1 abi:1',
	header => 'type:2 machine:2 version:4 entry:w phoff:w shoff:w flags:4 ehsize:2 phentsize:2'
		. ' phnum:2 shentsize:2 shnum:2 shstrndx:2',
	section => 'name:4 type:4 flags:w addr:w offset:w size:w link:4 info:4 align:w entsize:w',
	symbol4 => 'name:4 value:w size:w info:1 other:1 shndx:2',
	symbol8 => 'name:4 info:1 other:1 shndx:2 value:w size:w',
	rel => 'offset:w info:w',
	rela => 'offset:w info:w addend:w',
);
my %SIZE = (4 => { header => 52, section => 40, symbol => 16, rel => 8, rela => 12 },
	8 => { header => 64, section => 64, symbol => 24, rel => 16, rela => 24 });

# Types of sections: those of the ELF specification, SYMTAB_SHNDX, and the table of LLVM.
my %TYPE = (progbits => 1, symtab => 2, strtab => 3, rela => 4, nobits => 8, rel => 9, group => 17,
	shndx => 18, addrsig => 0x6fff4c03);
my @TYPES = (0 .. 18, 0x6fff4c03, 0x6ffffff6, 0x70000001, 0xffffffff);
my @FLAGS = (0x1, 0x2, 0x4, 0x10, 0x20, 0x40, 0x80, 0x200, 0x400, 0x800);
my @MACHINES = (2, 3, 8, 18, 20, 21, 22, 40, 42, 43, 62, 183, 189, 243, 252, 258, 0, 9999);
my @NAMES = ('mcount', '_mcount', '__fentry__', '__gnu_mcount_nc', '._mcount', '__mcount_loc',
	'.rela__mcount_loc', '.text', '.symtab', '');
my $SIGNATURE = "~Module signature appended~\n";

sub pick {
	my (@from) = @_;

	return $from[rand @from];
}

# A number of SIZE bytes.
sub form {
	my ($elf, $size) = @_;

	return $size == 1 ? 'C' : { 2 => 'S', 4 => 'L', 8 => 'Q' }->{$size} . $elf->{end};
}

sub number_at {
	my ($elf, $at, $size) = @_;

	return unpack form($elf, $size), substr $elf->{data}, $at, $size;
}

# Where field NAME of the structure at AT is, and its size.
sub field {
	my ($elf, $form, $at, $name) = @_;

	for (split / /, $FORM{$form}) {
		my ($field, $size) = split /:/;
		$size = $elf->{word} if $size eq 'w';
		return ($at, $size) if $field eq $name;
		$at += $size;
	}
	die "$form has no field $name";
}

sub get {
	my ($elf, $form, $at, $name) = @_;

	return number_at($elf, field($elf, $form, $at, $name));
}

# Write a number, as many bits of it as there is room for. What is outside the file stays away.
sub put {
	my ($elf, $form, $at, $name, $value) = @_;
	my ($where, $size) = field($elf, $form, $at, $name);

	return 'nothing' if $where + $size > length $elf->{data};
	$value &= $size < 8 ? (1 << 8 * $size) - 1 : ~0;
	substr $elf->{data}, $where, $size, pack form($elf, $size), $value;
	return sprintf '%s.%s=0x%x', "$form\@$at", $name, $value;
}

sub read_elf {
	my ($data) = @_;
	my $elf = { data => $data, word => 4 * ord(substr $data, 4, 1),
		end => ord(substr $data, 5, 1) == 1 ? '<' : '>' };
	my $size = $elf->{size} = $SIZE{$elf->{word}};

	$elf->{at} = get($elf, 'header', 16, 'shoff');
	$elf->{count} = get($elf, 'header', 16, 'shnum');
	for my $i (0 .. $elf->{count} - 1) {
		my $at = $elf->{at} + $i * $size->{section};
		push @{$elf->{section}}, { map { $_ => get($elf, 'section', $at, $_) }
			qw(type flags offset size link info) };
	}
	return $elf;
}

sub section_at {
	my ($elf, $i) = @_;

	return $elf->{at} + $i * $elf->{size}{section};
}

# Whether the headers of sections are still in the file.
sub has_headers {
	my ($elf) = @_;

	return section_at($elf, $elf->{count}) <= length $elf->{data};
}

# The number of a section of one of the TYPES that is not empty, of any if there is none.
sub section_of {
	my ($elf, @types) = @_;
	my %type = map { $TYPE{$_} => 1 } @types;
	my @all = grep { $type{$elf->{section}[$_]{type}} && $elf->{section}[$_]{size} }
		1 .. $#{$elf->{section}};

	return @all ? pick(@all) : int rand @{$elf->{section}};
}

# A value to put where VALUE is.
sub value {
	my ($elf, $value) = @_;
	my $size = length $elf->{data};
	my $other = pick(@{$elf->{section}});

	my @values = (
		0, 1, 2, 3, 4, 7, 8, 0xff, 0xff00, 0xffff,
		(1 << 31) - 1, 1 << 31, 0xffffffff, 1 << 32, (1 << 32) + 8,
		24 << 55, (1 << 63) - 1, 1 << 63, ~0 - $size, ~0 - 7, ~0,
		$value ^ 1 << int rand 64, $value ^ 1 << int rand 16, $value ^ 1 << int rand 4,
		$value - 1, $value + 1, $value + 8, $value >> 1, $value << 1,
		$size, $size - 1, $size - $value, int rand $size,
		$elf->{count}, int rand $elf->{count},
		$other->{offset}, $other->{size}, $other->{info},
		int(rand 1 << 32) << 32 | int rand 1 << 32);
	return pick(@values);
}

# Give a field another value: of the structure that FORM names, at AT.
sub change {
	my ($elf, $form, $at) = @_;
	my $name = pick(map { s/:.*//r } split / /, $FORM{$form});
	my ($where, $size) = field($elf, $form, $at, $name);

	return 'nothing' if $where + $size > length $elf->{data};
	my $old = number_at($elf, $where, $size);
	my $new = "$form $name" eq 'section type' ? pick(@TYPES)
		: "$form $name" eq 'section flags' ? $old ^ pick(@FLAGS)
		: "$form $name" eq 'header machine' ? pick(@MACHINES)
		: value($elf, $old);
	return put($elf, $form, $at, $name, $new);
}

# Put CONTENTS behind all that is there, at a multiple of 8.
sub append {
	my ($elf, $contents) = @_;

	$elf->{data} .= "\0" x (-length($elf->{data}) % 8);
	my $at = length $elf->{data};
	$elf->{data} .= $contents;
	return $at;
}

# Add a header of a section, given as [field, value]..., with CONTENTS.
sub add_section {
	my ($elf, $contents, @fields) = @_;
	my $size = $elf->{size}{section};

	my $offset = append($elf, $contents);
	my $headers = substr $elf->{data}, $elf->{at}, $elf->{count} * $size;
	$elf->{at} = append($elf, $headers . "\0" x $size);
	my $at = section_at($elf, $elf->{count}++);
	put($elf, 'section', $at, @{$_})
		for ['offset', $offset], ['size', length $contents], @fields;
	put($elf, 'header', 16, 'shoff', $elf->{at});
	put($elf, 'header', 16, 'shnum', $elf->{count});
	return;
}

sub random_bytes {
	my ($length) = @_;

	return join '', map { chr rand 256 } 1 .. $length;
}

# Numbers of 4 bytes, as they are in groups and in indexes of sections.
sub numbers {
	my ($elf, @numbers) = @_;

	return pack "L$elf->{end}*", @numbers;
}

# The position of an entry, of SIZE bytes, in section number I.
sub entry {
	my ($elf, $i, $size) = @_;
	my $section = $elf->{section}[$i];

	return $section->{offset} + $size * int rand($section->{size} / $size || 1);
}

sub change_header {
	my ($elf) = @_;

	return change($elf, rand() < 0.25 ? ('ident', 0) : ('header', 16));
}

sub change_section {
	my ($elf) = @_;

	return change($elf, 'section', section_at($elf, int rand $elf->{count}));
}

sub change_symbol {
	my ($elf) = @_;

	my $at = entry($elf, section_of($elf, 'symtab'), $elf->{size}{symbol});

	return change($elf, "symbol$elf->{word}", $at);
}

sub relocation {
	my ($elf) = @_;
	my $i = section_of($elf, 'rel', 'rela');
	my $form = $elf->{section}[$i]{type} == $TYPE{rel} ? 'rel' : 'rela';

	return ($form, entry($elf, $i, $elf->{size}{$form}));
}

sub change_relocation {
	my ($elf) = @_;

	return change($elf, relocation($elf));
}

# The type of a relocation is the low byte of its info in ELF32, the low word in ELF64.
sub change_relocation_type {
	my ($elf) = @_;
	my ($form, $at) = relocation($elf);
	my ($where, $size) = field($elf, $form, $at, 'info');

	return 'nothing' if $where + $size > length $elf->{data};
	my $info = number_at($elf, $where, $size);
	return put($elf, $form, $at, 'info', $info ^ $info & 0xff ^ int rand 64);
}

sub change_bits {
	my ($elf) = @_;
	my $at = int rand length $elf->{data};
	my $bit = int rand 8;

	substr $elf->{data}, $at, 1, chr(ord(substr $elf->{data}, $at, 1) ^ 1 << $bit);
	return "bit $at.$bit";
}

sub change_bytes {
	my ($elf) = @_;
	my $at = int rand length $elf->{data};
	my $count = 1 + int rand min(16, length($elf->{data}) - $at);

	substr $elf->{data}, $at, $count,
		pick("\0" x $count, "\xff" x $count, random_bytes($count));
	return "$count bytes at $at";
}

sub change_strings {
	my ($elf) = @_;
	my $section = $elf->{section}[section_of($elf, 'strtab')];
	my $name = pick(@NAMES) . pick("\0", "\0", '');
	my $at = int rand(($section->{size} & 0xffff) || 1);

	return 'nothing' if $section->{offset} + $at + length $name > length $elf->{data};
	substr $elf->{data}, $section->{offset} + $at, length $name, $name;
	return "name '" . $name =~ s/\0//r . "' at $at of the strings";
}

sub truncate_file {
	my ($elf) = @_;
	my $length = int rand length $elf->{data};

	substr $elf->{data}, $length, length($elf->{data}) - $length, '';
	return "cut to $length";
}

sub append_bytes {
	my ($elf) = @_;
	my $bytes = pick($SIGNATURE, random_bytes(1 + rand 64), "\0" x rand 4096);

	$elf->{data} .= $bytes;
	return length($bytes) . ' bytes behind';
}

sub copy_header {
	my ($elf) = @_;
	my ($from, $to) = (int rand $elf->{count}, int rand $elf->{count});
	my $size = $elf->{size}{section};

	return 'nothing' if !has_headers($elf);
	my $header = substr $elf->{data}, section_at($elf, $from), $size;
	substr $elf->{data}, section_at($elf, $to), $size, $header;
	return "section $to is section $from";
}

# Two sections at the same place.
sub overlap {
	my ($elf) = @_;
	my ($one, $other) = (int rand $elf->{count}, pick(@{$elf->{section}}));

	my $offset = $other->{offset} + pick(0, 0, 4, 8);

	return put($elf, 'section', section_at($elf, $one), 'offset', $offset);
}

sub two_tables {
	my ($elf) = @_;
	my $i = section_of($elf, 'rel', 'rela');
	my $section = $elf->{section}[$i];

	return 'nothing' if !has_headers($elf);
	add_section($elf, substr($elf->{data}, $section->{offset}, min($section->{size}, 4096)),
		['type', $section->{type}], ['link', $section->{link}],
		['flags', $section->{flags}],
		['info', pick($section->{info}, int rand $elf->{count})],
		['entsize', $elf->{size}{$section->{type} == $TYPE{rel} ? 'rel' : 'rela'}]);
	return "section $i twice";
}

sub add_group {
	my ($elf) = @_;
	my @members = map { int rand $elf->{count} + 2 } 1 .. rand 5;
	my $symtab = section_of($elf, 'symtab');

	return 'nothing' if !has_headers($elf);
	for (@members) {
		my $at = section_at($elf, $_);
		next if $_ >= $elf->{count} || rand() < 0.2;
		put($elf, 'section', $at, 'flags', get($elf, 'section', $at, 'flags') | 0x200);
	}
	add_section($elf, numbers($elf, pick(0, 1, 1, 1, 2), @members),
		['type', $TYPE{group}], ['align', 4], ['entsize', pick(4, 4, 4, 4, 8)],
		['link', $symtab], ['info', pick(1, 1 + int rand 9, ~0)]);
	return "a group of @members";
}

sub add_indexes {
	my ($elf) = @_;
	my $symtab = section_of($elf, 'symtab');
	my $symbols = ($elf->{section}[$symtab]{size} & 0xffff) / $elf->{size}{symbol};
	my @index = map { int rand pick(1, $elf->{count}, 1 << 32) }
		1 .. $symbols + pick(0, 0, 0, -1, 1);

	return 'nothing' if !has_headers($elf);
	add_section($elf, numbers($elf, @index), ['type', $TYPE{shndx}], ['link', $symtab],
		['entsize', 4], ['align', 4]);
	return 'indexes of sections';
}

sub add_any {
	my ($elf) = @_;
	my @field = map { [$_, value($elf, int rand 32)] } grep { rand() < 0.5 }
		qw(name flags addr offset size link info align entsize);

	return 'nothing' if !has_headers($elf);
	add_section($elf, random_bytes(rand 64), ['type', pick(@TYPES)], @field);
	return 'another section';
}

# So many sections that their number does not fit the header.
sub add_many {
	my ($elf) = @_;
	my $count = 0xff00 - 24 + int rand 32;
	my $size = $elf->{size}{section};

	return 'nothing' if rand() < 0.99 || !has_headers($elf);
	my $headers = substr $elf->{data}, $elf->{at}, $elf->{count} * $size;
	$elf->{at} = append($elf, $headers . "\0" x (($count - $elf->{count}) * $size));
	$elf->{count} = $count;
	put($elf, 'header', 16, 'shoff', $elf->{at});
	put($elf, 'header', 16, 'shnum', $count < 0xff00 ? $count : 0);
	put($elf, 'section', $elf->{at}, 'size', $count < 0xff00 ? 0 : $count);
	return "$count sections";
}

my @MUTATIONS = (
	(\&change_header) x 3, (\&change_section) x 8, (\&change_symbol) x 4,
	(\&change_relocation) x 4, (\&change_relocation_type) x 2, (\&change_bits) x 3,
	\&change_bytes, (\&change_strings) x 2, \&truncate_file, \&append_bytes, \&copy_header,
	(\&overlap) x 2, (\&two_tables) x 2, (\&add_group) x 2, \&add_indexes, \&add_any,
	\&add_many,
);

# A mutant of the object DATA. Returns what was done, and the mutant. It depends on nothing but DATA
# and the state of rand().
sub mutate {
	my ($data) = @_;
	my $elf = read_elf($data);
	my @done = pick(@MUTATIONS)->($elf);

	push @done, pick(@MUTATIONS)->($elf) while rand() < 0.45;
	return (join(', ', @done), $elf->{data});
}

1;
