#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# What recordmcount.pl does to files: an error is one line and leaves the file byte for byte as it
# was; another name of the file never sees the table; the mode stays.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use File::Copy qw(copy);
use Test::More;
use Time::HiRes qw(sleep);
use Binutils;

my $traced = assemble('traced', join "\n", map { ".globl f$_\nf$_: call __fentry__\nret" } 1 .. 600);
my $plain = slurp($traced);
my $done = do {
	copy($traced, "$DIR/done.o");
	record("$DIR/done.o");
	slurp("$DIR/done.o");
};
isnt(listed("$DIR/done.o"), '', 'the object gets a table');

# Whether recordmcount.pl refuses FILE with the right reason and leaves it alone.
sub refused {
	my ($file, $reason, $what) = @_;
	my $before = -f $file ? slurp($file) : undef;
	my ($status, $out, $err) = record($file);

	is($status, 256, "$what: exit status 1");
	like($err, qr/\Arecordmcount\.pl: \Q$file\E: $reason\n\z/, "$what: one line says why");
	is($out, '', "$what: nothing else is printed");
	ok(slurp($file) eq $before, "$what: untouched") if defined $before;
	is_deeply([glob "$DIR/*.tmp $DIR/*/*.tmp"], [], "$what: no file left behind");
	return;
}

refused("$DIR/missing.o", 'No such file or directory', 'missing file');
refused(spew("$DIR/empty.o", ''), 'not an ELF object', 'empty file');
refused($DIR, 'not a regular file', 'directory');
refused('/dev/null', 'not a regular file', 'device');
refused(spew("$DIR/text.o", "int f(void);\n" x 9), 'not an ELF object', 'text file');
refused(spew("$DIR/bitcode.o", "BC\xc0\xde" . "\0" x 99), 'LLVM bitcode.*', 'LLVM bitcode');
refused(spew("$DIR/short.o", substr $plain, 0, 40), 'truncated.*', 'half an ELF header');
refused(spew("$DIR/signed.ko", "${plain}signature~Module signature appended~\n"), 'is signed', 'signed module');
need('mkfifo', "$DIR/fifo.o");
refused("$DIR/fifo.o", 'not a regular file', 'named pipe');
{
	need('gcc', '-nostdlib', '-static', '-Wl,-e,0', '-o', "$DIR/program", assemble('main', "__fentry__: ret\ncall __fentry__"));
	refused("$DIR/program", 'not a relocatable object', 'program');
}
my ($status, $out, $err) = record();
is($status, 256, 'no file: exit status 1');
is($err, "usage: recordmcount.pl [-l] FILE...\n", 'no file: usage');

# The mode, and another name of the file.
for my $mode (oct 644, oct 600, oct 755) {
	my $object = spew("$DIR/mode.o", $plain);

	chmod $mode, $object;
	is((record($object))[0], 0, sprintf 'mode %o: succeeds', $mode);
	is((stat $object)[2] & oct 7777, $mode, sprintf 'mode %o: is kept', $mode);
	unlink $object;
}
for my $mode (oct 644, oct 444) {
	my ($cached, $object) = (spew("$DIR/cached", $plain), "$DIR/linked.o");

	chmod $mode, $cached;
	link $cached, $object or die $!;
	is((record($object))[0], 0, sprintf 'hard link, mode %o: succeeds', $mode);
	ok(slurp($cached) eq $plain, sprintf 'hard link, mode %o: the other name is untouched', $mode);
	ok(slurp($object) eq $done, sprintf 'hard link, mode %o: this one has the table', $mode);
	is((stat $object)[2] & oct 7777, $mode, sprintf 'hard link, mode %o: mode is kept', $mode);
	is_deeply([glob "$DIR/*.tmp"], [], sprintf 'hard link, mode %o: no file left behind', $mode);
	unlink $cached, $object;
}
{
	my $object = spew("$DIR/inode.o", $plain);
	my $inode = (stat $object)[1];

	record($object);
	is((stat $object)[1], $inode, 'a file with one name is changed in place');
	symlink $object, "$DIR/symlink.o";
	spew($object, $plain);
	is((record("$DIR/symlink.o"))[0], 0, 'symbolic link: succeeds');
	ok(slurp($object) eq $done && -l "$DIR/symlink.o", 'symbolic link: what it points to is changed');
}

# Without the rights of root, who may do all.
{
	my $dir = "$DIR/readonly";
	mkdir $dir;
	my ($object, $linked) = (spew("$dir/a.o", $plain), spew("$dir/b.o", $plain));
	link $linked, "$DIR/b2.o";
	chmod oct 755, $DIR;
	chmod oct 666, $object, $linked;
	chmod oct 555, $dir;

	my @as = $> == 0 ? qw(setpriv --reuid=65534 --clear-groups) : ();
	my $try = sub { run(@as, 'perl', $SCRIPT, @_) };

	copy($SCRIPT, "$DIR/recordmcount.pl");
	local $SCRIPT = "$DIR/recordmcount.pl";
	($status, undef, $err) = $try->($object);
	is("$status$err", '0', 'directory without write permission: succeeds');
	ok(slurp($object) eq $done, 'directory without write permission: has the table');
	($status, undef, $err) = $try->($linked);
	is($status, 256, 'hard link there: fails');
	like($err, qr/\Arecordmcount\.pl: \Q$linked\E: cannot create .*: Permission denied\n\z/, 'hard link there: says why');
	ok(slurp($linked) eq $plain, 'hard link there: untouched');

	my $guarded = spew("$DIR/guarded.o", $plain);
	chmod oct 444, $guarded;
	($status, undef, $err) = $try->($guarded);
	is($status, 256, 'read-only file: fails');
	is($err, "recordmcount.pl: $guarded: Permission denied\n", 'read-only file: says why');
	ok(slurp($guarded) eq $plain, 'read-only file: untouched');
	chmod 0, $guarded;
	($status, undef, $err) = $try->($guarded);
	is($err, "recordmcount.pl: $guarded: Permission denied\n", 'unreadable file: says why');
	chmod oct 755, $dir;
}

# No space: a write that stops half-way, by a limit and on a full file system.
for my $linked (0, 1) {
	my $what = $linked ? 'hard link' : 'one name';
	my $object = spew("$DIR/limit.o", $plain);
	link $object, "$DIR/limit2.o" if $linked;
	for my $blocks (int(length($plain) / 1024) + 1, int(length($plain) / 1024) + 9) {
		($status, undef, $err) = run('bash', '-c', 'ulimit -f $1; exec perl "$2" "$3"', '-', $blocks, $SCRIPT, $object);
		is($status, 256, "size limit of $blocks KiB, $what: fails");
		is($err, "recordmcount.pl: $object: cannot write: File too large\n", "size limit of $blocks KiB, $what: says why");
		ok(slurp($object) eq $plain, "size limit of $blocks KiB, $what: untouched");
		is_deeply([glob "$DIR/*.tmp"], [], "size limit of $blocks KiB, $what: no file left behind");
	}
	unlink $object, "$DIR/limit2.o";
}
SKIP: {
	my $full = "$DIR/full";
	mkdir $full;
	skip 'mounting a file system needs root', 4 if system "mount -t tmpfs -o size=64k tmpfs '$full' 2>/dev/null";
	my $object = spew("$full/a.o", $plain);
	system "cat /dev/zero >'$full/fill' 2>/dev/null";
	refused($object, 'cannot write: No space left on device', 'full file system');
	system 'umount', $full;
}

# A signal at any moment leaves the file as it was, or with its table.
{
	my %seen;
	for my $delay (map { $_ / 4000 } 1 .. 40) {
		my $object = spew("$DIR/signal.o", $plain);
		my $pid = fork // die;
		if (!$pid) {
			open STDERR, '>', '/dev/null';
			exec 'perl', $SCRIPT, $object;
		}
		sleep $delay;
		kill 'TERM', $pid;
		waitpid $pid, 0;
		my $is = slurp($object);
		$seen{$is eq $plain ? 'as it was' : $is eq $done ? 'done' : 'broken'}++;
	}
	ok(!$seen{broken}, 'SIGTERM: the file is as it was or done');
}

done_testing();
