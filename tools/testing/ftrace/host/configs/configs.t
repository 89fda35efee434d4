#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# Kernels with few options. FTRACE_CONFIGS names the kernels that were built. A name like tiny-clang
# is the kernel "tiny" with a further fragment of a configuration.

use strict;
use warnings;
use FindBin;
use Test::More;

my %wanted = map { $_ => 1 } split / /, $ENV{FTRACE_CONFIGS} // '';
plan(skip_all => 'FTRACE_CONFIGS names no kernels') if !%wanted;

my $root = "$FindBin::Bin/../../../../..";

# lines_of CONFIG, SCRIPT, OPTIONS: what a script prints in the kernel of a configuration, in lines.
sub lines_of {
	my ($config, $script, $options) = @_;
	my @lines = `"$root/tools/vm/guest" -c 1 -k "$root/build/$config/arch/x86/boot/bzImage" $options "$FindBin::Bin/$script"`;

	is($? >> 8, 0, "$config: booted, and left with") or diag(@lines);
	chomp @lines;
	return @lines;
}

my %options = (tiny => '', tiny32 => "-b '$root/build/vm/busybox-i386'");
for my $config (grep { !/^nofunc/ } sort keys %wanted) {
	my $options = $options{$config =~ s/-.*//r};

	if (!defined $options) {
		fail("$config: is no kernel of this test");
		next;
	}
	my ($tracer, $functions, $toggled, $hits, $others, $complaints) =
		lines_of($config, 'tiny.sh', $options);

	is($tracer, 'nop', "$config: no tracer at first");
	cmp_ok($functions, '>', 1000, "$config: $functions functions");
	is($toggled, 'toggled', "$config: all functions on and off");
	cmp_ok($hits, '>', 0, "$config: the function asked for is in the trace");
	is($others, 0, "$config: and no other");
	is($complaints, 0, "$config: nothing in dmesg");
}
if ($wanted{nofunc}) {
	my ($tracers, $files, $switches, $complaints) = lines_of('nofunc', 'nofunc.sh', '');

	unlike($tracers, qr/function/, 'nofunc: no function tracer');
	is($files, 0, 'nofunc: nor its files');
	cmp_ok($switches, '>', 0, 'nofunc: events work');
	is($complaints, 0, 'nofunc: nothing in dmesg');
}

done_testing();
