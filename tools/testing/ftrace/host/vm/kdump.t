#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# A guest records all calls with their returns, and crashes. kdump's kernel starts in it and lets
# makedumpfile write a compressed dump; drgn and tools/tracing/flight-dump.py find in it what the guest
# did last, and names of tasks and of functions of modules. Nothing of the recorder stops the crash: NMIs
# come to the other CPUs in any code of theirs.

use strict;
use warnings;
use File::Copy;
use File::Path 'make_path';
use File::Temp 'tempdir';
use FindBin;
use Test::More;

my $root = "$FindBin::Bin/../../../../..";
my $kernel = $ENV{FTRACE_KERNEL} // "$root/build/full";
my $programs = ($ENV{FTRACE_CONSOLE} // "$root/build/check-full/tap/console") =~ s,/tap/.*,,r;
my $script = "$root/tools/tracing/flight-dump.py";
plan(skip_all => "$kernel has no kdump") if system "grep -qs '^CONFIG_PROC_VMCORE=y' '$kernel/.config'";
chomp(my %tool = map { $_ => scalar `PATH=\$PATH:/sbin:/usr/sbin command -v $_` } qw(kexec makedumpfile drgn busybox));
plan(skip_all => "no $_") for grep { !$tool{$_} } sort keys %tool;
my $dir = tempdir(CLEANUP => 1);

sub spew {
	my ($file, $text) = @_;
	open my $out, '>', $file or die "$file: $!\n";
	print {$out} $text;
	close $out or die "$file: $!\n";
	chmod 0755, $file;
	return;
}

# take PROGRAM, TO: the program, its libraries, and what loads it.
sub take {
	my ($program, $to) = @_;
	make_path($to);
	copy($_, $to) or die "$_: $!\n" for $program, `ldd $program 2>&1` =~ m{(/\S+)}g;
	chmod 0755, glob "$to/*";
	return;
}

# The root of the other kernel.
take($tool{makedumpfile}, "$dir/root/bin");
take($tool{busybox}, "$dir/root/bin");
make_path(map { "$dir/root/$_" } qw(proc dev tmp));
spew("$dir/root/init", <<'END');
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t devtmpfs dev /dev
/bin/ld-linux-x86-64.so.2 --library-path /bin /bin/makedumpfile -F -c -d 31 /proc/vmcore | $b dd of=/dev/vda bs=64k
$b sync
$b poweroff -f
END

take($tool{kexec}, "$dir/kdump");
copy("$kernel/arch/x86/boot/bzImage", "$dir/kdump") or die "bzImage: $!\n";
copy("$programs/guest/modules/ftmod_a.ko", "$dir/kdump");
system "cd $dir/root && find . | cpio -o -H newc --quiet | gzip > $dir/kdump/initrd";
spew("$dir/kdump/crash.sh", <<'END');
cd /host/kdump
T=/sys/kernel/tracing
./ld-linux-x86-64.so.2 --library-path . ./kexec -p bzImage --initrd=initrd --append="console=ttyS0 nr_cpus=1 reset_devices" ||
	exit 3
insmod ftmod_a.ko
echo 1024 > $T/flight_size_kb
echo 1 > $T/options/flight-time
echo 1 > $T/options/flight-returns
echo flight > $T/current_tracer
while :; do ls /proc > /dev/null; done &
sleep 1
echo nest 3 > /sys/module/ftmod_a/parameters/call
echo 1 > /proc/sys/kernel/sysrq
echo c > /proc/sysrq-trigger
END
spew("$dir/disk", '');
truncate "$dir/disk", 400 << 20 or die "disk: $!\n";
my $said = `$root/tools/vm/guest -k $kernel/arch/x86/boot/bzImage -m 768 -d $dir/kdump -l $dir/console -t 280 -a 'crashkernel=192M kunit.enable=0' -q -drive -q file=$dir/disk,format=raw,if=virtio /host/kdump/crash.sh 2>&1`;
system "makedumpfile -R $dir/vmcore < $dir/disk > $dir/log 2>&1";
is(`head -c 5 $dir/vmcore 2>&1`, 'KDUMP', 'there is a dump') or diag(substr $said, -1500);

my $drgn = "timeout 200 drgn -q -c $dir/vmcore -s $kernel/vmlinux $script";
my $found = `$drgn 100000 2>&1`;
unlike($found, qr/Traceback|rror:/, 'drgn reads it');
like($found, qr/^ +\d+ open: machine_kexec <- __crash_kexec <- panic <- sysrq_handle_crash <- .*vfs_write/m,
	'the stack of the task that crashed is known');
like($found, qr/ftmod_a_one \[ftmod_a\] <-ftmod_a_nest \[ftmod_a\]\n.*\} \/\* ftmod_a_one/, 'functions of modules and returns are known');
unlike($found, qr/ <-0x/, 'each caller has a name');
like(`$drgn -o $dir/file 2>&1`, qr/^\d{4,} calls of \d+ tasks$/, 'drgn writes a file for the program flight');
SKIP: {
	skip 'no libtracefs', 1 if system('pkg-config --exists libtracefs zlib');
	system "make -s -C $root/tools/tracing/flight O=$dir > $dir/log 2>&1";
	like(`$dir/flight show -p sh --slowest 3 $dir/file 2>&1`, qr/ <- sysrq_handle_crash <- /, '  which shows what was slow');
}
done_testing();
