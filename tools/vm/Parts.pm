# SPDX-License-Identifier: GPL-2.0-only
#
# The host's half of how the output of a guest is cut into parts. part.sh is the guest's half, and
# has the one idea.

package Parts;

use strict;
use warnings;
use File::Copy 'copy';

# So many lines of the console are shown if a guest died.
my $LINES = 40;

# read_parts IN, NAMES, TEXT, END: read IN to its end. When the part ends whose name is first in
# NAMES, take it off NAMES and call END(NAME, STATUS). Call TEXT(TEXT) for all other output. The
# mark of the end can stand behind text, because a command need not end its last line.
sub read_parts {
	my ($in, $names, $on_text, $on_end) = @_;

	while (my $line = <$in>) {
		my ($text, $name, $status) = $line =~ /^(.*)\@end (\S+) (\d+)$/;
		if (!@{$names} || ($name // '') ne $names->[0]) {
			$on_text->($line);
			next;
		}
		$on_text->($text) if $text ne '';
		$on_end->(shift @{$names}, $status);
	}
	return;
}

# unwrap NAME, FILE: copy stdin to stdout line by line, without the mark of the part NAME. If the
# part ends, write its status to FILE.
sub unwrap {
	my ($name, $file) = @_;

	local $| = 1;
	read_parts(\*STDIN, [$name], sub { print @_ }, sub {
		open my $out, '>', $file or die "$file: $!\n";
		print $out "$_[1]\n";
		close $out or die "$file: $!\n";
	});
	return;
}

# last_lines FILE: the end of the console, if there is a console.
sub last_lines {
	my ($file) = @_;

	open my $in, '<', $file or return;
	my @lines = map { s/\r?\n\z//r } <$in>;
	close $in;
	splice @lines, 0, -$LINES if @lines > $LINES;
	return @lines;
}

# run_parts NAMES, LOG, COMMAND, RECORD: run each of NAMES as a part of a guest, and give the result
# to RECORD(NAME, STATUS, TEXT, CONSOLE...). COMMAND(NAMES) is the command that starts a guest. The
# guest runs NAMES in this order and writes its console to LOG. If a guest ends before all parts
# have ended, the first part that has not ended gets the status "died" and the last lines of the
# console; the whole console is kept as LOG.NAME, where NAME has - for each slash. The parts behind
# that part get a new guest.
sub run_parts {
	my ($names, $log, $command, $record) = @_;
	my @left = @{$names};

	while (@left) {
		my $text = '';

		unlink $log;
		open my $from, '-|', $command->(@left) or die "cannot start a guest: $!\n";
		read_parts($from, \@left, sub { $text .= $_[0] }, sub {
			$record->(@_, $text);
			$text = '';
		});
		close $from;
		next if !@left;
		copy($log, "$log." . $left[0] =~ s{/}{-}gr);
		$record->(shift @left, 'died', $text, last_lines($log));
	}
	return;
}

1;
