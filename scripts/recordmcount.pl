#!/usr/bin/perl -w
# SPDX-License-Identifier: GPL-2.0-only
#
# recordmcount.pl [-l] FILE... - list the calls of the profiling function in relocatable objects
#
# gcc -pg puts a call of mcount, _mcount or __fentry__ at the head of every function. In each
# object this adds a table of the addresses of these calls, in sections named __mcount_loc, from
# which the kernel patches them at run time.
#
#	-l	link each part of the table to its text section (SHF_LINK_ORDER), so that ld
#		--gc-sections drops both together. In a relocatable link such an object does not
#		go together with a table of the compiler or of objtool: ld refuses sections of
#		one name that are in part linked.
#
# The idea: all changes are appended to the file. The ELF header is written last and makes the
# changes valid. Until then the old contents are in use, and after a failure the file only has to be
# cut back to its old size. Sections keep their numbers, nothing is moved, and no other program is
# needed.
#
# This program runs once for every object of a kernel, so most of its cost is its start. Therefore
# it uses no module except strict (-w costs nothing, "use warnings" a third of the run), and it uses
# index() and unpack() on whole tables instead of looking at every entry.

use strict;

# Fields of a section header, in the order of both ELF classes.
sub NAME()	{ return 0 }
sub TYPE()	{ return 1 }
sub FLAGS()	{ return 2 }
sub OFFSET()	{ return 4 }
sub SIZE()	{ return 5 }
sub LINK()	{ return 6 }
sub INFO()	{ return 7 }
sub ENTSIZE()	{ return 9 }
sub FIELDS()	{ return 10 }

sub SHT_NULL()		{ return 0 }
sub SHT_PROGBITS()	{ return 1 }
sub SHT_SYMTAB()	{ return 2 }
sub SHT_STRTAB()	{ return 3 }
sub SHT_RELA()		{ return 4 }
sub SHT_NOBITS()	{ return 8 }
sub SHT_REL()		{ return 9 }
sub SHT_GROUP()		{ return 17 }
sub SHT_SYMTAB_SHNDX()	{ return 18 }
sub SHT_LLVM_ADDRSIG()	{ return 0x6fff4c03 }

sub SHF_ALLOC()		{ return 0x2 }
sub SHF_EXECINSTR()	{ return 0x4 }
sub SHF_INFO_LINK()	{ return 0x40 }
sub SHF_LINK_ORDER()	{ return 0x80 }
sub SHF_GROUP()		{ return 0x200 }

sub SHN_LORESERVE()	{ return 0xff00 }
sub SHN_XINDEX()	{ return 0xffff }

sub ET_REL()		{ return 1 }
sub STT_SECTION()	{ return 3 }
sub EM_MIPS()		{ return 8 }

my $link_order;

# A file that asks for more at once than this is broken, or no object of a kernel.
sub READ_MAX()		{ return 1 << 30 }

# The names of the profiling function: ARM's EABI has one of its own, and in the first PowerPC64
# ABI a name with a dot is the code, one without it a descriptor.
my @CALLEES = qw(mcount _mcount __fentry__ __gnu_mcount_nc ._mcount);

# By e_machine, from the processor supplements of the ELF specification ("psABI"):
#   word	the relocation that stores an address, by size of a word
#   call	relocations that make a call, each with its distance from the start of the site, and
#		the bytes there, one of these, if a reference that is no call can have that type
#   inplace	addends are in the relocated words, although relocations have a field for them
#   relax	marks of code that the linker may shorten, which no offset into a section survives
#   exit	the kernel image keeps .exit.text. Elsewhere a linker script may discard it, and a
#		table must not refer to what is discarded
my %MACHINE = (
	2 => {		# SPARC: "call"
		word => { 4 => 3 },			# R_SPARC_32
		call => { 7 => [0], 18 => [0] },	# R_SPARC_WDISP30, WPLT30
	},
	3 => {		# i386: "call", and "call *mcount@GOT(reg)" of position independent code
		exit => 1,
		word => { 4 => 1 },			# R_386_32
		call => {
			2 => [1, "\xe8"],		# R_386_PC32
			4 => [1, "\xe8"],		# R_386_PLT32
			3 => [2, map { "\xff" . chr } 0x90 .. 0x97], # R_386_GOT32
			43 => [2, map { "\xff" . chr } 0x90 .. 0x97], # R_386_GOT32X
		},
	},
	EM_MIPS, {	# MIPS: "jal"; in a module the "lui v1" that begins a long call
		word => { 4 => 2, 8 => 18 },		# R_MIPS_32, R_MIPS_64
		call => {
			4 => [0],			# R_MIPS_26
			5 => [0, "\x3c\x03\0\0", "\0\0\x03\x3c"], # R_MIPS_HI16
		},
	},
	20 => {		# PowerPC: "bl"
		word => { 4 => 1 },			# R_PPC_ADDR32
		call => { 10 => [0], 18 => [0] },	# R_PPC_REL24, PLTREL24
	},
	21 => {		# PowerPC64: "bl"
		word => { 8 => 38 },			# R_PPC64_ADDR64
		call => { 10 => [0], 116 => [0] },	# R_PPC64_REL24, REL24_NOTOC
	},
	22 => {		# s390: "brasl" with %r0 or %r14; "larl" has the same relocation
		word => { 4 => 4, 8 => 22 },		# R_390_32, R_390_64
		call => {
			19 => [2, "\xc0\x05", "\xc0\xe5"], # R_390_PC32DBL
			20 => [2, "\xc0\x05", "\xc0\xe5"], # R_390_PLT32DBL
		},
	},
	40 => {		# ARM: "bl", in both instruction sets
		word => { 4 => 2 },			# R_ARM_ABS32
		call => { 1 => [0], 10 => [0], 28 => [0] }, # R_ARM_PC24, THM_CALL, CALL
	},
	42 => {		# SuperH: the word that holds the address to call is what gets patched
		word => { 4 => 1 },			# R_SH_DIR32
		call => { 1 => [0] },			# R_SH_DIR32
		inplace => 1,
	},
	62 => {		# x86-64: "call", and "call *__fentry__@GOTPCREL(%rip)"
		exit => 1,
		word => { 8 => 1 },			# R_X86_64_64
		call => {
			2 => [1, "\xe8"],		# R_X86_64_PC32
			4 => [1, "\xe8"],		# R_X86_64_PLT32
			9 => [2, "\xff\x15"],		# R_X86_64_GOTPCREL
			41 => [2, "\xff\x15"],		# R_X86_64_GOTPCRELX
		},
	},
	183 => {	# AArch64: "bl"
		word => { 8 => 257 },			# R_AARCH64_ABS64
		call => { 283 => [0] },			# R_AARCH64_CALL26
	},
	189 => {	# MicroBlaze: the "imm" before "brlid"
		word => { 4 => 1 },			# R_MICROBLAZE_32
		call => { 3 => [0], 5 => [0] },		# R_MICROBLAZE_64_PCREL, 64
	},
	243 => {	# RISC-V: the "auipc" of a call
		word => { 4 => 1, 8 => 2 },		# R_RISCV_32, R_RISCV_64
		call => { 18 => [0], 19 => [0] },	# R_RISCV_CALL, CALL_PLT
		relax => [43, 51],			# R_RISCV_ALIGN, RELAX
	},
	252 => {	# C-SKY: "jbsr"
		word => { 4 => 1 },			# R_CKCORE_ADDR32
		call => { 19 => [0], 40 => [0] },	# R_CKCORE_PCREL_IMM26BY2, PCREL_JSR_IMM26BY2
	},
	258 => {	# LoongArch: "bl"
		word => { 4 => 1, 8 => 2 },		# R_LARCH_32, R_LARCH_64
		call => { 29 => [0], 66 => [0] },	# R_LARCH_SOP_PUSH_PLT_PCREL, B26
		relax => [100, 102],			# R_LARCH_RELAX, ALIGN
	},
);
$MACHINE{18} = { %{$MACHINE{2}} };			# SPARC32PLUS
$MACHINE{43} = { %{$MACHINE{2}}, word => { 8 => 32 } };	# SPARC V9, R_SPARC_64

# LENGTH bytes at OFFSET of the file. Reads ahead, for most of what is asked for is close together.
sub get {
	my ($obj, $offset, $length) = @_;

	die "truncated, or an offset points outside it\n"
		if $length > $obj->{size} || $offset > $obj->{size} - $length;
	die "too large\n" if $length > READ_MAX;

	my $skip = $offset - $obj->{window_at};
	if ($skip < 0 || $skip + $length > length $obj->{window}) {
		my $want = $length > 1 << 17 ? $length : 1 << 17;

		sysseek $obj->{fh}, $offset, 0 or die "cannot seek: $!\n";
		$obj->{window_at} = $offset;
		$obj->{window} = '';
		while (length $obj->{window} < $length) {
			my $got = sysread $obj->{fh}, $obj->{window}, $want - length $obj->{window},
				length $obj->{window};
			die "cannot read: $!\n" if !defined $got;
			die "became shorter while it was read\n" if !$got;
		}
		$skip = 0;
	}
	return substr $obj->{window}, $skip, $length;
}

# The contents of section number I.
sub contents {
	my ($obj, $i) = @_;
	my $at = $i * FIELDS;

	return get($obj, $obj->{sh}[$at + OFFSET], $obj->{sh}[$at + SIZE]);
}

# The contents of section number I, a table of entries of SIZE bytes.
sub table {
	my ($obj, $i, $size) = @_;

	die "section $i has a wrong entry size\n"
		if $obj->{sh}[$i * FIELDS + ENTSIZE] != $size
		|| $obj->{sh}[$i * FIELDS + SIZE] % $size;
	return contents($obj, $i);
}

# The contents of the string table that is section number I.
sub strings {
	my ($obj, $i) = @_;

	die "section $i is no string table\n"
		if $i >= $obj->{count} || $obj->{sh}[$i * FIELDS + TYPE] != SHT_STRTAB;
	return contents($obj, $i);
}

# Positions in the table BUF, with entries of SIZE bytes, of the entries with WORD at position AT.
sub entries_with {
	my ($buf, $size, $at, $word) = @_;
	my @found;

	for (my $p = index $$buf, $word; $p >= 0; $p = index $$buf, $word, $p + 1) {
		push @found, $p - $at if $p >= $at && ($p - $at) % $size == 0;
	}
	return @found;
}

# Open FILE and read its headers.
sub open_object {
	my ($file) = @_;
	my %obj = (file => $file, window => '', window_at => 0);

	(undef, undef, $obj{mode}, $obj{nlink}, undef, undef, undef, $obj{size}) = stat $file
		or die "$!\n";
	-f _ or die "not a regular file\n";
	open $obj{fh}, '<', $file or die "$!\n";

	my $ident = get(\%obj, 0, $obj{size} < 16 ? $obj{size} : 16);
	die "LLVM bitcode, not code: the call sites can be listed after the link\n"
		if $ident =~ /\A(?:BC\xc0\xde|\xde\xc0\x17\x0b)/;
	$ident =~ /\A\x7fELF([\x01\x02])([\x01\x02])\x01/ or die "not an ELF object\n";
	my ($class, $end) = (ord $1, $2 eq "\1" ? '<' : '>');

	$obj{end} = $end;
	$obj{word} = $class * 4;
	$obj{xword} = $class == 2 ? "Q$end" : "L$end";
	$obj{ehdr_form} = $class == 2 ? "(SSLQQQLS6)$end" : "(SSLLLLLS6)$end";
	$obj{shdr_form} = $class == 2 ? "(LLQQQQLLQQ)$end" : "(L10)$end";
	$obj{shdr_size} = $class == 2 ? 64 : 40;
	$obj{sym_size} = $class == 2 ? 24 : 16;
	$obj{ehdr} = get(\%obj, 0, $class == 2 ? 64 : 52);

	my ($type, $machine, undef, undef, undef, $shoff, undef, undef, undef, undef,
	    $shentsize, $count, $shstrndx) = unpack "x16 $obj{ehdr_form}", $obj{ehdr};

	die "not a relocatable object\n" if $type != ET_REL;
	$obj{machine} = $machine;
	$obj{sh} = [];
	$obj{count} = 0;
	return \%obj if !$shoff;

	# Numbers that do not fit the header are in the section header with number 0.
	die "wrong size of a section header\n" if $shentsize != $obj{shdr_size};
	my @first = unpack $obj{shdr_form}, get(\%obj, $shoff, $shentsize);
	die "section 0 has a type\n" if $first[TYPE] != SHT_NULL;
	$count ||= $first[SIZE];
	$shstrndx = $first[LINK] if $shstrndx == SHN_XINDEX;
	die "truncated, or an offset points outside it\n" if $count > $obj{size} / $shentsize;

	$obj{count} = $count;
	$obj{shstrndx} = $shstrndx;
	$obj{sh} = [unpack "($obj{shdr_form})*", get(\%obj, $shoff, $count * $shentsize)];

	# r_info: in ELF32 the type is the low byte, in ELF64 the low word. Only little endian 64
	# bit MIPS has the symbol's number first, then the types from the last to the first.
	$obj{swapped} = $machine == EM_MIPS && $class == 2 && $end eq '<';
	$obj{sym_at} = $class == 2 && $end eq '<' && !$obj{swapped} ? 12 : $obj{word};
	$obj{sym_shift} = $class == 2 ? 0 : 8;
	return \%obj;
}

# The r_info of a relocation.
sub info {
	my ($obj, $sym, $type) = @_;

	return pack $obj->{xword}, $sym << 8 | $type if $obj->{word} == 4;
	return pack $obj->{xword}, $sym | $type << 56 if $obj->{swapped};
	return pack $obj->{xword}, $sym << 32 | $type;
}

# Numbers of the symbols that are a profiling function; none in most objects that have no calls.
sub find_callees {
	my ($obj) = @_;
	my ($sh, $symtab) = ($obj->{sh});

	for my $i (1 .. $obj->{count} - 1) {
		next if $sh->[$i * FIELDS + TYPE] != SHT_SYMTAB;
		die "has two symbol tables\n" if $symtab;
		$symtab = $i;
	}
	return if !$symtab;
	$obj->{symtab} = $symtab;

	# A name can be the tail of a longer one in the string table.
	my $strtab = strings($obj, $sh->[$symtab * FIELDS + LINK]);
	my %name;
	for my $callee (@CALLEES) {
		for (my $p = index $strtab, "$callee\0"; $p >= 0; $p = index $strtab, "$callee\0", $p + 1) {
			$name{$p} = 1;
		}
	}
	return if !%name;

	$obj->{syms} = table($obj, $symtab, $obj->{sym_size});
	my @names = unpack "(L$obj->{end} x" . ($obj->{sym_size} - 4) . ')*', $obj->{syms};
	return grep { $name{$names[$_]} } 1 .. $#names;
}

# Whether there is a table already, from the compiler or an earlier run.
sub is_recorded {
	my ($obj) = @_;

	$obj->{shstrtab} = strings($obj, $obj->{shstrndx});
	return 0 if index($obj->{shstrtab}, "__mcount_loc\0") < 0;
	for my $i (1 .. $obj->{count} - 1) {
		my $name = $obj->{sh}[$i * FIELDS + NAME];
		return 1 if $name < length $obj->{shstrtab}
			&& substr($obj->{shstrtab}, $name, 13) eq "__mcount_loc\0";
	}
	return 0;
}

# The name of section number I.
sub section_name {
	my ($obj, $i) = @_;

	my $at = $obj->{sh}[$i * FIELDS + NAME];

	return $at < length $obj->{shstrtab} ? unpack 'Z*', substr $obj->{shstrtab}, $at : '';
}

# The sites: for each text section that has some its number, their offsets, and the type of its
# relocation section.
sub find_sites {
	my ($obj, @callees) = @_;
	my ($sh, $xword, $word) = @$obj{qw(sh xword word)};
	my $machine = $MACHINE{$obj->{machine}};
	my (%want, @relax, @found);

	die "machine $obj->{machine} with words of $word bytes is not supported\n" if !$machine || !$machine->{word}{$word};
	die "too many symbols are a profiling function\n" if @callees > 64;
	for my $type (keys %{$machine->{call}}) {
		for my $sym (@callees) {
			$want{info($obj, $sym, $type)} = $machine->{call}{$type};
		}
	}
	@relax = map { info($obj, 0, $_) } @{$machine->{relax} || []};

	for my $i (1 .. $obj->{count} - 1) {
		my $type = $sh->[$i * FIELDS + TYPE];
		next if $type != SHT_RELA && $type != SHT_REL;

		my $text = $sh->[$i * FIELDS + INFO];
		die "section $i relocates a section that does not exist\n" if $text >= $obj->{count};
		next if $sh->[$text * FIELDS + TYPE] != SHT_PROGBITS
			|| !($sh->[$text * FIELDS + FLAGS] & SHF_EXECINSTR);
		die "section $i has another symbol table\n"
			if $sh->[$i * FIELDS + LINK] != $obj->{symtab};

		my $entry = $word * ($type == SHT_RELA ? 3 : 2);
		my $rel = table($obj, $i, $entry);
		my ($code, @sites);

		for my $info (keys %want) {
			my ($back, @insns) = @{$want{$info}};
			my $length = length($insns[0] || '');
			my %insn = map { $_ => 1 } @insns;
			my @at = entries_with(\$rel, $entry, $word, $info) or next;

			$code = contents($obj, $text) if !defined $code;
			my $end = length($code) - $back - 4;
			for my $at (@at) {
				my $site = unpack($xword, substr $rel, $at, $word) - $back;

				die "a relocation points outside section $text\n"
					if $site < 0 || $site > $end;
				push @sites, $site if !$length || $insn{substr $code, $site, $length};
			}
		}
		next if !@sites || !$machine->{exit} && section_name($obj, $text) =~ /\A\.exit\.text/;
		die "section $text has been made for linker relaxation, which moves its calls\n"
			if grep { entries_with(\$rel, $entry, $word, $_) } @relax;
		push @found, [$text, [sort { $a <=> $b } @sites], $type];
	}
	return @found;
}

# Find the section symbols of the sections whose numbers are the keys of SYMBOL. They become the
# values of SYMBOL. A section can lack a symbol, because the assembler drops section symbols to
# which nothing refers.
sub find_section_symbols {
	my ($obj, $symbol) = @_;
	my ($end, $size) = @$obj{qw(end sym_size)};
	my $locals = $obj->{sh}[$obj->{symtab} * FIELDS + INFO];
	my ($sym, $fill) = $size == 24 ? ("x4 C x S$end Q$end x8", 3) : ("x4 L$end x4 C x S$end", 3);
	my ($type, $where, $value) = $size == 24 ? (0, 1, 2) : (1, 2, 0);

	die "wrong number of local symbols\n" if $locals * $size > length $obj->{syms} || !$locals;

	for my $i (1 .. $obj->{count} - 1) {
		$obj->{xindex} = $i if $obj->{sh}[$i * FIELDS + TYPE] == SHT_SYMTAB_SHNDX
			&& $obj->{sh}[$i * FIELDS + LINK] == $obj->{symtab};
	}
	if ($obj->{xindex}) {
		$obj->{xindexes} = table($obj, $obj->{xindex}, 4);
		die "section $obj->{xindex} does not fit the symbol table\n"
			if length($obj->{xindexes}) / 4 != length($obj->{syms}) / $size;
		die "a symbol refers to a section that does not exist\n"
			if grep { $_ >= $obj->{count} } unpack "L$end*", $obj->{xindexes};
	}

	my @field = unpack "($sym)*", substr $obj->{syms}, 0, $locals * $size;
	for (my $i = 0; $i < $locals; $i++) {
		next if $field[$i * 3 + $type] != STT_SECTION || $field[$i * 3 + $value];

		my $section = $field[$i * 3 + $where];
		$section = unpack "L$end", substr $obj->{xindexes}, $i * 4, 4
			if $section == SHN_XINDEX && $obj->{xindex};
		$symbol->{$section} ||= $i if exists $symbol->{$section};
	}
	return;
}

# Put CONTENTS behind all that is in the file, as those of section number I.
sub place {
	my ($obj, $i, $contents) = @_;
	my $at = $i * FIELDS;

	$obj->{tail} .= "\0" x (-($obj->{size} + length $obj->{tail}) % 8);
	$obj->{sh}[$at + OFFSET] = $obj->{size} + length $obj->{tail};
	$obj->{sh}[$at + SIZE] = length $contents;
	$obj->{tail} .= $contents;
	return;
}

# Add a section called NAME. Its number is the return value.
sub add_section {
	my ($obj, $name, $type, $flags, $link, $info, $align, $entsize, $contents) = @_;
	my $i = $obj->{count}++;

	push @{$obj->{sh}}, $name, $type, $flags, 0, 0, 0, $link, $info, $align, $entsize;
	place($obj, $i, $contents);
	return $i;
}

# Append NAME to the names of sections, return where it is.
sub add_name {
	my ($obj, $name) = @_;
	my $at = length($obj->{shstrtab}) + 1;

	$obj->{shstrtab} .= "\0$name\0";
	return $at;
}

# Make section symbols for SECTIONS. They are local, so they come before all global symbols, but no
# more global ones than there are new ones have to make room, and those go to the end: all other
# symbols keep their numbers.
sub add_section_symbols {
	my ($obj, $symbol, @sections) = @_;
	my ($sh, $end, $size) = @$obj{qw(sh end sym_size)};
	my $at = $obj->{symtab} * FIELDS;
	my $first = $sh->[$at + INFO];
	my $count = length($obj->{syms}) / $size;
	my $after = $first + @sections;
	my $moved_to = $count > $after ? $count : $after;
	my $moved = $count < $after ? $count - $first : @sections;

	my $insert = sub {
		my ($old, $entry, $new) = @_;

		return substr($old, 0, $first * $entry) . $new
			. substr($old, ($first + $moved) * $entry)
			. substr($old, $first * $entry, $moved * $entry);
	};

	my $form = $size == 24 ? "(LCCSQQ)$end" : "(LLLCCS)$end";
	my ($new, $xnew) = ('', '');
	for my $section (@sections) {
		my $far = $section >= SHN_LORESERVE;
		my $where = $far ? SHN_XINDEX : $section;

		$symbol->{$section} = $first + length($new) / $size;
		$new .= pack $form, $size == 24 ? (0, STT_SECTION, 0, $where, 0, 0)
						: (0, 0, 0, STT_SECTION, 0, $where);
		$xnew .= pack "L$end", $far ? $section : 0;
	}
	if (!$obj->{xindex} && $xnew =~ /[^\0]/) {
		$obj->{xindexes} = "\0" x ($count * 4);
		$obj->{xindex} = add_section($obj, add_name($obj, '.symtab_shndx'), SHT_SYMTAB_SHNDX,
			0, $obj->{symtab}, 0, 4, 4, '');
	}
	place($obj, $obj->{symtab}, $insert->($obj->{syms}, $size, $new));
	place($obj, $obj->{xindex}, $insert->($obj->{xindexes}, 4, $xnew)) if $obj->{xindex};
	$sh->[$at + INFO] = $after;

	# All that refers to a symbol by number.
	for my $i (1 .. $obj->{count} - 1) {
		my $type = $sh->[$i * FIELDS + TYPE];
		next if $sh->[$i * FIELDS + LINK] != $obj->{symtab};

		if ($type == SHT_RELA || $type == SHT_REL) {
			renumber($obj, $i, $count, $first, $moved, $moved_to);
		} elsif ($type == SHT_GROUP) {
			my $sym = $sh->[$i * FIELDS + INFO];
			$sh->[$i * FIELDS + INFO] += $moved_to - $first
				if $sym >= $first && $sym < $first + $moved;
		} elsif ($type == SHT_LLVM_ADDRSIG) {
			# The linker ignores this hint when it has lost its symbol table.
			$sh->[$i * FIELDS + LINK] = 0;
		}
	}
	return;
}

# In relocation section I, adapt references to the MOVED symbols from FIRST on, now at MOVED_TO.
sub renumber {
	my ($obj, $i, $count, $first, $moved, $moved_to) = @_;
	my ($end, $at, $shift) = @$obj{qw(end sym_at sym_shift)};
	my $entry = $obj->{word} * ($obj->{sh}[$i * FIELDS + TYPE] == SHT_RELA ? 3 : 2);
	my $rel = table($obj, $i, $entry);
	my @word = unpack "(x$at L$end x" . ($entry - $at - 4) . ')*', $rel;
	my @sym = $shift ? map { $_ >> $shift } @word : @word;
	my $after = $first + $moved;
	my $changed;

	for my $n (grep { $sym[$_] < $after || $sym[$_] >= $count } 0 .. $#sym) {
		die "section $i refers to a symbol that does not exist\n" if $sym[$n] >= $count;
		next if $sym[$n] < $first;
		substr $rel, $n * $entry + $at, 4,
			pack "L$end", $word[$n] + ($moved_to - $first << $shift);
		$changed = 1;
	}
	place($obj, $i, $rel) if $changed;
	return;
}

# A section group is kept or dropped as a whole: the table of a member has to be a member.
sub join_group {
	my ($obj, $member, @new) = @_;
	my $form = "L$obj->{end}*";

	if (!$obj->{groups}) {
		$obj->{groups} = {};
		for my $i (1 .. $obj->{count} - 1) {
			next if $obj->{sh}[$i * FIELDS + TYPE] != SHT_GROUP;
			my ($flags, @members) = unpack $form, table($obj, $i, 4);
			$obj->{groups}{$_} = $i for @members;
			$obj->{group}{$i} = [$flags, @members];
		}
	}
	my $i = $obj->{groups}{$member} or die "section $member is in no group\n";
	push @{$obj->{group}{$i}}, @new;
	$obj->{grown}{$i} = 1;
	return;
}

# The file is about to get longer, and to get more sections. A place outside the file, or a number that
# stands for no section, would then be in the tables.
sub check_references {
	my ($obj) = @_;
	my ($sh, $size, $count, $end) = @$obj{qw(sh size count end)};
	my $shndx = $obj->{sym_size} == 24 ? "x6 S$end x16" : "x14 S$end";
	my $refers = "refers to a section that does not exist\n";

	for my $i (1 .. $count - 1) {
		my ($type, $flags, $offset, $length, $link, $info) = @$sh[map { $i * FIELDS + $_ } TYPE, FLAGS, OFFSET .. INFO];

		next if $type == SHT_NULL;
		die "section $i $refers" if $link >= $count || $info >= $count && $flags & SHF_INFO_LINK;
		next if $type == SHT_NOBITS;
		die "truncated, or an offset points outside it\n" if $length > $size || $offset > $size - $length;
		my (undef, @members) = $type == SHT_GROUP ? unpack "L$end*", contents($obj, $i) : ();
		die "section $i $refers" if grep { $_ >= $count } @members;
	}
	die "a symbol $refers"
		if grep { $_ >= $count && $_ < SHN_LORESERVE } unpack "($shndx)*", $obj->{syms};
	return;
}

# Add the tables to OBJ, in memory.
sub add_tables {
	my ($obj, @found) = @_;
	my ($word, $xword, $end) = @$obj{qw(word xword end)};
	my $machine = $MACHINE{$obj->{machine}};
	my %symbol = map { $_->[0] => 0 } @found;

	$obj->{tail} = '';
	find_section_symbols($obj, \%symbol);
	my @missing = grep { !$symbol{$_} } map { $_->[0] } @found;
	add_section_symbols($obj, \%symbol, @missing) if @missing;

	my %name;
	for my $site (@found) {
		my ($text, $offsets, $type) = @$site;
		my $rela = $type == SHT_RELA;
		my $inplace = !$rela || $machine->{inplace};
		my $prefix = $rela ? '.rela' : '.rel';
		my $name = $name{$type} ||= add_name($obj, "${prefix}__mcount_loc");
		my $group = $obj->{sh}[$text * FIELDS + FLAGS] & SHF_GROUP;
		my $info = unpack $xword, info($obj, $symbol{$text}, $machine->{word}{$word});

		# The addresses are relocations against the section's symbol, with the offset added.
		my $table = $inplace ? pack "$xword*", @$offsets : "\0" x ($word * @$offsets);
		my $at = -$word;
		my $rel = pack "$xword*", map {
			($at += $word, $info, $rela ? $inplace ? 0 : $_ : ())
		} @$offsets;

		my $order = $link_order ? SHF_LINK_ORDER : 0;
		my $loc = add_section($obj, $name + length $prefix, SHT_PROGBITS,
			SHF_ALLOC | $order | $group, $order && $text, 0, $word, 0, $table);
		my $reloc = add_section($obj, $name, $type, SHF_INFO_LINK | $group,
			$obj->{symtab}, $loc, $word, $word * ($rela ? 3 : 2), $rel);
		join_group($obj, $text, $loc, $reloc) if $group;
	}
	place($obj, $_, pack "L$end*", @{$obj->{group}{$_}}) for sort keys %{$obj->{grown} || {}};
	place($obj, $obj->{shstrndx}, $obj->{shstrtab});

	# Now the section headers, and the header that finds them.
	my ($count, @field) = ($obj->{count}, unpack "x16 $obj->{ehdr_form}", $obj->{ehdr});
	$obj->{tail} .= "\0" x (-($obj->{size} + length $obj->{tail}) % 8);
	$field[5] = $obj->{size} + length $obj->{tail};
	$field[11] = $count < SHN_LORESERVE ? $count : 0;
	$obj->{sh}[SIZE] = $count < SHN_LORESERVE ? 0 : $count;
	$obj->{tail} .= pack "($obj->{shdr_form})*", @{$obj->{sh}};
	die "too large\n" if $word == 4 && $obj->{size} + length $obj->{tail} > 0xffffffff;
	$obj->{new_ehdr} = substr($obj->{ehdr}, 0, 16) . pack $obj->{ehdr_form}, @field;
	return;
}

# Write DATA at OFFSET.
sub put {
	my ($fh, $offset, $data) = @_;
	my $done = 0;

	sysseek $fh, $offset, 0 or die "cannot seek: $!\n";
	while ($done < length $data) {
		my $count = syswrite $fh, $data, length($data) - $done, $done;
		die "cannot write: $!\n" if !$count;
		$done += $count;
	}
	return;
}

# Append to the file, then switch to the new header. If that fails all is as before.
sub write_in_place {
	my ($obj) = @_;
	my ($file, $size) = @$obj{qw(file size)};

	open my $fh, '+<', $file or die "$!\n";
	die "changed while it was read\n" if -s $fh != $size;
	return if eval {
		put($fh, $size, $obj->{tail});
		put($fh, 0, $obj->{new_ehdr});
		close $fh or die "cannot write: $!\n";
		1;
	};
	my $why = $@;
	eval { put($fh, 0, $obj->{ehdr}) };
	truncate $file, $size or $why =~ s/\n/, and cannot restore it: $!\n/;
	die $why;
}

# A file with several names may be an entry of a compiler cache, which must stay what it is.
sub write_copy {
	my ($obj) = @_;
	my ($file, $size) = @$obj{qw(file size)};
	my $copy = "$file.$$.tmp";

	require Fcntl;
	sysopen my $fh, $copy, Fcntl::O_WRONLY() | Fcntl::O_CREAT() | Fcntl::O_EXCL(), oct 600
		or die "cannot create $copy: $!\n";
	return if eval {
		for (my $at = 0; $at < $size; $at += 1 << 20) {
			my $length = $size - $at < 1 << 20 ? $size - $at : 1 << 20;
			put($fh, $at, get($obj, $at, $length));
		}
		put($fh, $size, $obj->{tail});
		put($fh, 0, $obj->{new_ehdr});
		close $fh or die "cannot write: $!\n";
		chmod $obj->{mode} & oct 7777, $copy or die "cannot set the mode: $!\n";
		rename $copy, $file or die "cannot replace it: $!\n";
		1;
	};
	my $why = $@;
	unlink $copy;
	die $why;
}

sub record {
	my ($file) = @_;
	my $obj = open_object($file);
	my @callees = find_callees($obj) or return;

	return if is_recorded($obj);
	my @found = find_sites($obj, @callees) or return;

	# What is appended to a signed module invalidates the signature, which is at the end of it.
	die "is signed\n" if get($obj, $obj->{size} - 28, 28) eq "~Module signature appended~\n";

	check_references($obj);
	add_tables($obj, @found);
	if ($obj->{nlink} > 1) {
		write_copy($obj);
	} else {
		write_in_place($obj);
	}
	return;
}

my $failed = 0;

# A signal has to leave the file as it was, too.
$SIG{XFSZ} = 'IGNORE';
$SIG{$_} = sub { $failed = 2; die "interrupted\n" } for qw(HUP INT TERM);

if (@ARGV && $ARGV[0] eq '-l') {
	$link_order = 1;
	shift;
}
if (!@ARGV) {
	print STDERR "usage: recordmcount.pl [-l] FILE...\n";
	exit 1;
}
for my $file (@ARGV) {
	next if eval { record($file); 1 };
	print STDERR "recordmcount.pl: $file: $@";
	last if $failed == 2;
	$failed = 1;
}
exit($failed ? 1 : 0);
