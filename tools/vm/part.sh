# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The guest's half of how the output of a guest is cut into parts. Parts.pm is the host's half.
#
# The one idea: behind the output of a part stands a line with the name and the status of the part.
# If this line is missing, the guest died. A part can hold other parts: all output of a guest is a
# part itself.

# part NAME COMMAND...: run COMMAND, which may be a function, as the part NAME. NAME is one word.
part()
{
	(
		shift
		"$@"
	)
	echo "@end $1 $?"
}
