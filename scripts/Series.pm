# SPDX-License-Identifier: GPL-2.0-only
#
# What the series consists of for a version of the base. prepare-kernel puts it into a tree, and
# make-series makes mails of it; this module reads what both need to know.
#
# The files of the series are those of the newest version. A directory patches/VERSION holds what is
# for that version alone: patches that take the place of those of the same name in patches/, files
# that are laid over, also in the place of those of the series (in files/), and tables of its own:
# "needs", and "without" for the files of the series that this version has no use for.
#
# patches/commits is a table: "series NAME", or "series NAME on OTHER" if it needs another series,
# then the names of its commits, each with lines behind a tab that say what the commit takes, and its
# message behind four spaces:
#
#	file PATH		the file of this repository, so far without the layers of later commits
#	patch NAME		a patch of patches/, whose header can be the message
#	layer NAME		a patch of patches/layers/: what the commit adds to files of the series.
#				It comes off the files as they are here, and goes on in its commit
#	objects MAKEFILE	the Makefile, so far without the objects whose source comes in a later
#				commit. From this commit on, each commit that brings sources adds them.
#				Objects of files that a version is without are never there
#	large REASON		the mail may have more code than others
#
# Every file and every patch must be taken exactly once. What only another version of the base has is
# left out. The patches of a prepared tree are in the order of this table, too.

package Series;

use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename 'dirname';
use File::Find 'find';

my $HERE = dirname(dirname(abs_path(__FILE__)));
my @TOPS = qw(arch include kernel Documentation tools/testing/selftests tools/tracing/flight
	      tools/tracing/flight-dump.py scripts/recordmcount.pl);

# contents FILE
sub contents {
	my ($file) = @_;

	open my $in, '<', $file or die "$file: $!\n";
	local $/ = undef;
	return scalar(<$in>) // '';
}

# new VERSION, such as 6.12
sub new {
	my ($class, $version) = @_;
	my $self = bless { version => $version, own => "$HERE/patches/$version" }, $class;

	grep { $_ eq $version } versions() or die "$version: the series is not for this version\n";
	return $self;
}

# versions: of Linux, that the series is for.
sub versions {
	my @all = sort { ($a =~ /(\d+)\./)[0] <=> ($b =~ /(\d+)\./)[0] || ($a =~ /\.(\d+)/)[0] <=> ($b =~ /\.(\d+)/)[0] }
		map { m{([^/]+)$} } grep { -d } glob "$HERE/patches/[0-9]*.[0-9]*";

	return @all;
}

# table NAME: the lines of a table beside the patches, and of that of this version.
sub table {
	my ($self, $name) = @_;

	return grep { !/^#|^$/ } map { split /\n/, contents($_) } grep { -f }
		"$HERE/patches/$name", "$self->{own}/$name";
}

sub files_in {
	my ($top, $wanted) = @_;
	my @found;

	find({ no_chdir => 1, wanted => sub { push @found, $_ if -f && $wanted->($_) } }, $top) if -e $top;
	return map { substr $_, length($HERE) + 1 } sort @found;
}

# files: pairs of where a file of the series is in this repository, and in the kernel tree.
sub files {
	my ($self) = @_;
	my @own = map { [$_, m{^patches/[^/]+/files/(.*)}] } files_in("$self->{own}/files", sub { 1 });
	my %not = map { $_ => 1 } $self->table('without'), map { $_->[1] } @own;
	my @common = grep { !$not{$_} } sort map { files_in("$HERE/$_", sub {
		!/~$|\.k?[oa]$/ && (!m{/\.[^/]*$} || m{/\.kunitconfig$}) }) } @TOPS;

	return ((map { [$_, $_] } @common), (-f "$HERE/Kconfig" ? ['Kconfig', there('Kconfig')] : ()), @own);
}

# there OURS: where a file of this repository is in the kernel tree.
sub there {
	my ($ours) = @_;

	return $ours eq 'Kconfig' ? 'kernel/trace/ftrace/Kconfig' : $ours;
}

# ours PATH, patch NAME: where a file or a patch is for this version.
sub ours {
	my ($self, $path) = @_;

	return -f "$self->{own}/files/$path" ? "$self->{own}/files/$path" : "$HERE/$path";
}

sub patch {
	my ($self, $name) = @_;

	return -f "$self->{own}/$name" ? "$self->{own}/$name" : "$HERE/patches/$name";
}

# Does only another version of the base have it?
sub elsewhere {
	my ($self, $kind, $item) = @_;

	my $path = $kind eq 'patch' ? $item : "files/$item";

	return 0 if $kind eq 'layer';
	return 1 if $kind ne 'patch' && grep { $_ eq $item } $self->table('without');
	return 0 if -f ($kind eq 'patch' ? $self->patch($item) : $self->ours($item));
	return grep { -f "$HERE/patches/$_/$path" } versions();
}

# layer NAME: where it is.
sub layer {
	my ($self, $name) = @_;

	return "$HERE/patches/layers/$name.patch";
}

# commits: each with its series, name, message, reason to be large, and pairs of what it takes.
sub commits {
	my ($self) = @_;
	my ($series, @commits, %left);

	for (split /\n/, contents("$HERE/patches/commits")) {
		my $commit = $commits[-1];

		if (/^series (\S+)(?: on \S+)?$/) {
			$series = $1;
		} elsif (/^([^\s#]\S*)$/) {
			push @commits, { series => $series, name => $1, message => '', take => [] };
		} elsif (/^    (.*)/) {
			$commit->{message} .= "$1\n";
		} elsif (/^\tlarge\s+(.*)/) {
			$commit->{large} = $1;
		} elsif (/^\t(\S+)\s+(\S+)$/) {
			if ($self->elsewhere($1, $2)) {
				$left{$commit->{name}} = 1;
			} else {
				push @{$commit->{take}}, [$1, $2];
			}
		} elsif (/^$/) {
			$commit->{message} .= "\n" if $commit && $commit->{message};
		} elsif (!/^#/) {
			die "patches/commits: what is this? $_\n";
		}
	}
	s/\n+\z/\n/ for map { $_->{message} } @commits;
	return grep { @{$_->{take}} || !$left{$_->{name}} } @commits;
}

# patches: pairs of name and place, in their order.
sub patches {
	my ($self) = @_;
	my @names = map { $_->[1] } grep { $_->[0] eq 'patch' } map { @{$_->{take}} } $self->commits;

	-f $self->patch($_) or die "patches/commits names $_, which is not there\n" for @names;
	return map { [$_, $self->patch($_)] } @names;
}

# makefile PATH, SOURCE...: its text without the objects of these sources and of those that this version
# has no use for, and without what becomes empty by that.
sub makefile {
	my ($self, $path, @sources) = @_;
	my $dir = dirname($path);
	my %not = map { m{^\Q$dir\E/([^/]+)\.[cS]$} ? ("$1.o" => 1) : () } @sources, $self->table('without');
	my @lines;

	for (split /^/, contents($self->ours($path))) {
		if (/^([\w]+-\S+\s*[+:]=)(.*)/) {
			my @objects = grep { !$not{$_} } split ' ', $2;

			$_ = @objects ? join(' ', $1, @objects) . "\n" : '';
		} elsif (/^\w+_(\w+\.o)\s/ && $not{$1}) {
			$_ = '';
		}
		if (/^endif/ && $lines[-1] =~ /^ifn?(?:def|eq)/) {
			pop @lines;
		} elsif ($_ ne '') {
			push @lines, $_;
		}
	}
	return join '', @lines;
}

# For scripts of the shell, with tabs: "file PATH PLACE", "patch NAME PLACE", and lines of the tables.
# Makefiles are made in DIR.
sub show {
	my ($self, $dir) = @_;
	my %made = map { $_->[1] => "$dir/" . $_->[1] =~ tr{/}{-}r } grep { $_->[0] eq 'objects' }
		map { @{$_->{take}} } $self->commits;

	for my $makefile (sort keys %made) {
		open my $to, '>', $made{$makefile} or die "$made{$makefile}: $!\n";
		print {$to} $self->makefile($makefile);
		close $to or die "$made{$makefile}: $!\n";
	}
	print "file\t$_->[1]\t", $made{$_->[1]} // "$HERE/$_->[0]", "\n" for $self->files;
	print "patch\t$_->[0]\t$_->[1]\n" for $self->patches;
	print map { "needs\t$_\n" } $self->table('needs');
	print map { "replaced\t$_\n" } $self->table('replaced');
	return;
}

1;
