# SPDX-License-Identifier: GPL-2.0-only
#
# What the tests of recordmcount.pl share. Nothing here reads an object itself: what is in one, and
# whether it is well-formed, is what the binutils say about it.

package Binutils;
use strict;
use warnings;
no warnings 'portable';	# 64 bit numbers
use Exporter 'import';
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Temp qw(tempdir);
use Cwd qw(abs_path);

our @EXPORT = qw($SCRIPT $DIR run record slurp spew need assemble compile listed calls
	sections view complaints same_but_for_tables);

our $SCRIPT = abs_path($ENV{RECORDMCOUNT} || dirname(__FILE__) . '/../../../../scripts/recordmcount.pl');
our $DIR = tempdir(CLEANUP => 1);

$ENV{LC_ALL} = 'C';

sub slurp {
	my ($file) = @_;

	open my $fh, '<:raw', $file or die "$file: $!";
	local $/ = undef;
	my $data = <$fh>;
	close $fh;
	return $data;
}

sub spew {
	my ($file, $data) = @_;

	open my $fh, '>:raw', $file or die "$file: $!";
	print {$fh} $data or die "$file: $!";
	close $fh or die "$file: $!";
	return $file;
}

# Run a command. Returns its status, what it printed and its complaints.
sub run {
	my (@command) = @_;
	my ($out, $err) = ("$DIR/.out", "$DIR/.err");
	my $pid = fork;

	die "fork: $!" if !defined $pid;
	if (!$pid) {
		open STDOUT, '>', $out or die $!;
		open STDERR, '>', $err or die $!;
		exec { $command[0] } @command or die "$command[0]: $!";
	}
	waitpid $pid, 0;
	return ($?, slurp($out), slurp($err));
}

# Run a command that has to succeed.
sub need {
	my (@command) = @_;
	my ($status, $out, $err) = run(@command);

	die "@command: status $status\n$err" if $status;
	return $out;
}

# Run recordmcount.pl on FILES. The program must come to an end, also if FILES are no objects.
sub record {
	my (@files) = @_;

	return run('timeout', 300, 'perl', $SCRIPT, @files);
}

# The object of assembler SOURCE, with OPTIONS whose first can be the assembler to use.
sub assemble {
	my ($name, $source, @options) = @_;
	my $as = @options && $options[0] !~ /^-/ ? shift @options : 'as';

	spew("$DIR/$name.s", "$source\n");
	need($as, @options, '-o', "$DIR/$name.o", "$DIR/$name.s");
	return "$DIR/$name.o";
}

# The object of C SOURCE.
sub compile {
	my ($name, $source, @options) = @_;

	spew("$DIR/$name.c", $source);
	need('gcc', '-O2', '-pg', @options, '-c', '-o', "$DIR/$name.o", "$DIR/$name.c");
	return "$DIR/$name.o";
}

# The sections of FILE by number, as readelf shows them.
sub sections {
	my ($text) = @_;
	my %section;

	while ($text =~ /^\s*\[\s*(\d+)\]\s(\S*)\s+([A-Z]\S*)\s+[0-9a-f]{8,16}\s([0-9a-f]+)\s([0-9a-f]+)
			 \s[0-9a-f]+\s+([A-Za-z]*)\s+(\d+)\s+(\d+)\s+(\d+)$/gmx) {
		$section{$1} = { number => $1, name => $2, type => $3, offset => hex $4,
			size => hex $5, flags => $6, link => $7, info => $8, align => $9 };
	}
	return \%section;
}

# What is in FILE: sections, symbols and relocations. A view is good for itself.
sub view {
	my ($file) = @_;
	return $file if ref $file;

	my $text = need('readelf', '-SrsW', $file);
	my %view = (file => $file, section => sections($text), reloc => {}, symbol => []);
	my (%at, $reloc, $in_symbols);

	$at{$_->{offset}} = $_->{number} for grep { $_->{type} =~ /^RELA?$/ } values %{$view{section}};
	for (split /\n/, $text) {
		if (/^Relocation section '.*' at offset 0x([0-9a-f]+)/) {
			$reloc = $view{reloc}{$at{hex $1}} = [];
		} elsif (/^Symbol table/) {
			$in_symbols = 1;
		} elsif ($in_symbols && /^\s*(\d+): ([0-9a-f]+)\s+\S+ (\S+)\s+(\S+)\s+\S+\s+(?:\[.*\] )?\s*(\S+)\s?(.*)/) {
			$view{symbol}[$1] = { value => hex $2, type => $3, bind => $4, section => $5, name => $6 };
		} elsif ($reloc && /^([0-9a-f]{8,16})\s+([0-9a-f]+)\s+(\S+)(?:\s+(.*))?/) {
			my $info = hex $2;
			my ($offset, $kind, $rest, $wide) = (hex $1, $3, $4 // '', length $2 > 8);
			my $addend = $rest =~ /([+-]) ([0-9a-f]+)$/ ? "$1$2" : '+0';

			push @{$reloc}, { offset => $offset, kind => $kind,
				symbol => $wide ? $info >> 32 : $info >> 8,
				addend => $addend =~ /^-(.*)/ ? -hex $1 : hex substr $addend, 1 };
		}
	}
	return \%view;
}

# "number of the section in its name" makes sections with the same name different.
sub labels {
	my ($section) = @_;
	my (%seen, %label);

	for my $i (sort { $a <=> $b } keys %{$section}) {
		next if $section->{$i}{type} ne 'PROGBITS';
		$label{$i} = $section->{$i}{name} . '#' . $seen{$section->{$i}{name}}++;
	}
	return \%label;
}

# The sites that FILE lists in __mcount_loc, each as "section#n+offset".
sub listed {
	my ($file) = @_;
	my $view = view($file);
	$file = $view->{file};
	my $label = labels($view->{section});
	my @sites;

	for my $i (keys %{$view->{reloc}}) {
		my $table = $view->{section}{$view->{section}{$i}{info}};
		next if $table->{name} ne '__mcount_loc';

		my $word = $view->{section}{$i}{type} eq 'REL' || $view->{section}{$i}{size}
			== 12 * @{$view->{reloc}{$i}} ? 4 : 8;
		return "$file: relocations do not fill the table" if $table->{size} != $word * @{$view->{reloc}{$i}};

		# Where relocations have no addends, or on SuperH zeros, these are in the table.
		my %stored;
		if ($word == 4) {
			my $little = need('readelf', '-h', $file) =~ /little endian/;
			my $dump = need('readelf', '-x', $table->{number}, $file);
			my $hex = '';
			$hex .= $_ for map { s/ //gr } $dump =~ /^  0x[0-9a-f]+ ([0-9a-f ]{35})/gm;
			my @word = unpack $little ? 'V*' : 'N*', pack 'H*', $hex;
			$stored{$_ * 4} = $word[$_] for 0 .. $#word;
		}
		for my $reloc (@{$view->{reloc}{$i}}) {
			my $symbol = $view->{symbol}[$reloc->{symbol}];
			push @sites, sprintf '%s+%x', $label->{$symbol->{section}} // "?$symbol->{section}",
				$symbol->{value} + $reloc->{addend} + ($stored{$reloc->{offset}} // 0);
		}
	}
	return join ' ', sort @sites;
}

# The calls of the profiling function in FILE, in the same form, as OBJDUMP disassembles them.
sub calls {
	my ($file, $objdump, $pattern) = @_;
	my $text = need($objdump // 'objdump', '-dr', '-z', $file);
	my ($section, $insn, %seen, @sites);

	$pattern //= qr/call/;
	for (split /\n/, $text) {
		if (/^Disassembly of section (.*):$/) {
			$section = "$1#" . $seen{$1}++;
		} elsif (/^\s*([0-9a-f]+):\t(.*)/) {
			$insn = [$1, $2];
		} elsif (/^\t+[0-9a-f]+: R_\S+\s+(?:mcount|_mcount|\._mcount|__fentry__|__gnu_mcount_nc)(?:[-+@].*)?$/) {
			push @sites, "$section+$insn->[0]" if $insn->[1] =~ $pattern;
		}
	}
	return join ' ', sort @sites;
}

# The errors that readelf finds in FILE, without numbers. readelf reports a bad name of a symbol
# only where something refers to the symbol. If there are no names of sections, readelf writes
# <no-strings>; with the first name, the others become empty.
sub complaints {
	my ($file) = @_;
	my (undef, $out, $err) = run('readelf', '-aW', $file);

	return map { s/(?:0x)?[0-9a-f]*[0-9][0-9a-f]*/N/gr =~ s/^readelf: //r =~ s/<no-strings>//gr }
		grep { /warning|error/i && !/<corrupt string table index/ } split /\n/, "$err\n$out";
}

# '' if AFTER is BEFORE plus tables and the section symbols these need, else the difference.
sub same_but_for_tables {
	my ($before, $after) = map { view($_) } @_;
	my ($old, $new) = ($before->{section}, $after->{section});
	my @added = grep { !$old->{$_} } sort { $a <=> $b } keys %{$new};

	for my $i (grep { $_ } keys %{$old}) {
		for my $key (qw(name type flags link align)) {
			return "section $i: $key was $old->{$i}{$key}, is $new->{$i}{$key}"
				if $old->{$i}{$key} ne $new->{$i}{$key};
		}
		return "section $i: other size" if $old->{$i}{size} != $new->{$i}{size}
			&& $old->{$i}{type} !~ /^(?:SYMTAB|SYMTAB SECTION INDICES|STRTAB|GROUP|VERSYM)/;
	}
	for my $i (@added) {
		my $s = $new->{$i};
		next if $s->{name} eq '__mcount_loc' && $s->{type} eq 'PROGBITS' && $s->{flags} =~ /^A(L?)G?$/
			&& ($1 ? $new->{$s->{link}}{flags} =~ /X/ : !$s->{link});
		next if $s->{name} =~ /^\.rela?__mcount_loc$/ && $new->{$s->{info}}{name} eq '__mcount_loc';
		next if $s->{name} eq '.symtab_shndx';
		return "section $i, $s->{name}, is new";
	}

	my $symbols = sub {
		my ($view, $sections) = @_;
		my %count;

		for (@{$view->{symbol}}) {
			next if $_->{type} eq 'SECTION' && !$sections;
			$count{"$_->{name} $_->{value} $_->{type} $_->{bind} $_->{section}"}++;
		}
		return join "\n", map { "$count{$_} $_" } sort keys %count;
	};
	return 'symbols differ' if $symbols->($before) ne $symbols->($after);

	my $local = 1;
	for (@{$after->{symbol}}) {
		$local = 0 if $_->{bind} ne 'LOCAL';
		return "local symbol $_->{name} after a global one" if !$local && $_->{bind} eq 'LOCAL';
	}

	my %base;
	for (@{$after->{symbol}}) {
		return "two symbols of section $_->{section}"
			if $_->{type} eq 'SECTION' && $base{$_->{section}}++;
	}

	my $relocs = sub {
		my ($view, $i) = @_;

		return join "\n", map {
			my $s = $view->{symbol}[$_->{symbol}];
			"$_->{offset} $_->{kind} $s->{name} $s->{value} $s->{section} $s->{type} $_->{addend}"
		} @{$view->{reloc}{$i}};
	};
	for my $i (keys %{$before->{reloc}}) {
		return "relocation section $i differs" if $relocs->($before, $i) ne $relocs->($after, $i);
	}
	return '';
}

1;
