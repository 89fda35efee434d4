#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# "run" sees models that are wrong, searches that are not complete, and cases that do not fit. The
# checks change a model of one variable, its cases, or the limits of the search.

set -u

# shellcheck source=tools/testing/ftrace/host-tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../host-tap.sh"
here=$root/tools/testing/ftrace/model
dir=$work/tools/testing/ftrace/model

# The model, and its cases.
prepare()
{
	mkdir -p "$dir"
	cp "$here/run" "$here/claim.pml" "$dir/"
	cat >"$dir/one.pml" <<-'EOF'
	#include "claim.pml"
	CLAIMS x_is_set;
	byte x;
	active proctype sets()
	{
	#ifndef NO_SET
		x = 1;
	#endif
		CLAIM(x_is_set, x)
	}
	EOF
	printf '%s\t%s\t%s\t%s\n' \
		one ' ' - 'x is set' \
		one NO_SET x_is_set 'the store' >"$dir/cases"
}

# run_fails WHAT: "run" has checks that fail. What the checks say is in $work/said.
run_fails()
{
	! "$dir/run" >"$work/out" 2>&1
	sed -n '/^not ok/,/^ok/p' "$work/out" >"$work/said"
	ok "$1: run fails" test -s "$work/said"
	prepare
}

sees()
{
	if grep -q -e "$2" "$work/said"; then
		passed "$1 is seen"
	else
		failed "$1 is seen" "$work/said"
	fi
}

# refuses WHAT MESSAGE ARG...: "run ARG..." fails, and says only MESSAGE.
refuses()
{
	local what=$1 message=$2
	shift 2
	"$dir/run" "$@" >"$work/message" 2>&1 && echo 'exit status 0' >>"$work/message"
	ok "$what is refused" diff "$work/message" - <<<"$message"
}

prepare
ok 'the model passes' "$dir/run"

printf '%s\t%s\t%s\t%s\n' one NO_SET - a one 'SET' x_is_set b one NO_SET other c >"$dir/cases"
run_fails 'bad cases'
sees 'a proof with an error' "got: 'x_is_set'"
sees 'a variant without an error' "got: '-'"
sees 'a variant that breaks another claim' "expected: 'other'"

sed -i '/NO_SET/d' "$dir/cases"
sed -i '/^my .DEPTH/s/=.*/= 1;/' "$dir/run"
run_fails 'a search that is not deep enough'
sees 'a search that is not deep enough' "got: 'not all states'"

sed -i '/NO_SET/d' "$dir/cases"
sed -i '/^my .MEGABYTES/s/=.*/= 1;/' "$dir/run"
run_fails 'a search without memory'
sees 'a search without memory' "got: 'not all states'"

sed -i '/NO_SET/d' "$dir/cases"
sed -i 's/sets()/sets(/' "$dir/one.pml"
run_fails 'a syntax error'
sees 'a syntax error' "got: 'no verifier'"

sed -i '/NO_SET/d' "$dir/cases"
sed -i 's/CLAIM(.*/x == 2/' "$dir/one.pml"
run_fails 'a process that cannot go on'
sees 'a process that cannot go on' "got: 'invalid end state'"

sed -i -e '/^CLAIMS/a CLAIMS other;' -e 's/CLAIM(.*/&; if :: x == 2 -> x = 3 :: else fi/' \
	-e '/^#endif/a #ifdef NO_OTHER\n#endif' "$dir/one.pml"
run_fails 'cases that do not fit the model'
sees 'a claim and a NO_ without a variant' "got: 'other NO_OTHER'"
sees 'a statement that no proof reaches' 'x = 3'

usage='usage: run [-s | -t MODEL DEFINE...]'
refuses 'an unknown option' "$usage" -x
refuses '-t without a model' "$usage" -t
refuses '-t with an unknown model' 'run: no model other' -t other NO_SET
refuses '-t with an unknown definition' 'run: one.pml does not use NO_OTHER' -t one NO_OTHER
refuses '-t with more than a definition' 'run: what is NO_SET;id?' -t one 'NO_SET;id'

"$dir/run" -t one NO_SET >"$work/steps" 2>&1
ok '-t prints the way to an error' grep 'one.pml:9 .*\[assert(x_is_set)\]' "$work/steps"
ok '-t without an error fails' test "$("$dir/run" -t one >"$work/steps" 2>&1; echo $?)" = 1
plan
