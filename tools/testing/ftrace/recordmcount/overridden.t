#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# Weak functions that the link overrides. FTRACE_KERNEL is the build tree of a kernel with the
# series, FTRACE_CONSOLE the log of its console. The code of an overridden function stays in the
# kernel, and so does its entry in __mcount_loc. But no symbol names the function, and nothing calls
# it. The kernel must have a site for each entry except these.

use strict;
use warnings;
no warnings 'portable';	# 64 bit numbers
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Binutils;

my ($tree, $console) = @ENV{qw(FTRACE_KERNEL FTRACE_CONSOLE)};
plan(skip_all => 'FTRACE_KERNEL and FTRACE_CONSOLE name no kernel that was booted')
	if !$tree || !$console;

# The objects that were linked, the functions that each defines, and which of these are weak.
my @objects = map { split /\n/, need('ar', 't', $_) } "$tree/vmlinux.a", glob "$tree/{,arch/*/}lib/lib.a";
cmp_ok(scalar @objects, '>', 100, 'there are objects in the kernel');

my (%strong, %weak);
while (my @some = splice @objects, 0, 500) {
	for (split /\n/, need('nm', '-A', '--defined-only', @some)) {
		my ($file, $kind, $name) = /^(.*):[0-9a-f]+ (\S) (\S+)$/ or next;
		$strong{$name} = 1 if $kind =~ /[TDBR]/;
		push @{$weak{$name}}, $file if $kind eq 'W';
	}
}

# Of several weak ones the first is linked.
my %overridden;
for my $name (keys %weak) {
	my ($first, @others) = @{$weak{$name}};

	push @{$overridden{$_}}, $name for @others, $strong{$name} ? $first : ();
}

# The overridden functions that have a site and no other name.
my @names;
for my $file (sort keys %overridden) {
	my $view = view($file);
	my $labels = Binutils::labels($view->{section});
	my %sites = map { $_ => 1 } split / /, listed($view);
	my %gone = map { $_ => 1 } @{$overridden{$file}};
	my %named;

	for my $symbol (grep { $_ && $_->{type} eq 'FUNC' } @{$view->{symbol}}) {
		push @{$named{"$symbol->{section} $symbol->{value}"}}, $symbol->{name};
	}
	for my $place (keys %named) {
		my ($section, $value) = split / /, $place;

		next if grep { !$gone{$_} } @{$named{$place}};
		push @names, $named{$place}[0]
			if grep { $sites{sprintf '%s+%x', $labels->{$section} // '', $value + $_} } 0, 4;
	}
}
cmp_ok(scalar @names, '>', 0, 'there are overridden functions with sites');
note("overridden: $_") for sort @names;

my %symbol;
for (split /\n/, need('nm', "$tree/vmlinux")) {
	push @{$symbol{$2}}, hex $1 if /^([0-9a-f]+) \S (\S+)$/;
}
my $entries = ($symbol{__stop_mcount_loc}[0] - $symbol{__start_mcount_loc}[0]) / 8;
my ($sites) = slurp($console) =~ /ftrace: (\d+) call sites in/;

is($sites, $entries - @names, 'the kernel has a site for each entry but for those ' . @names);

done_testing();
