#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# torture without a guest: a seed gives the same operations each time, and a failure is reduced. A
# script stands in for the guest, and fails if its list of operations has two certain lines.

set -u

# shellcheck source=tools/testing/ftrace/host-tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../host-tap.sh"

torture=$work/tools/testing/ftrace/torture
mkdir -p "$work/tools/testing/ftrace" "$work/tools/vm" "$work/build/torture/arch/x86/boot"
cp "$root/tools/testing/ftrace/torture" "$torture"
touch "$work/build/torture/arch/x86/boot/bzImage"
printf '#!/bin/sh\necho qemu\n' >"$work/tools/vm/qemu10"
printf '#!/bin/sh\n' >"$work/tools/testing/ftrace/guest-programs"
cat >"$work/tools/vm/guest" <<'EOS'
#!/bin/bash
while getopts k:c:m:t:a:d:M:l:q: opt; do
	case $opt in
	d) dir=$OPTARG ;;
	l) log=$OPTARG ;;
	esac
done
grep -qxF "$(cat "${0%/*}/first")" "$dir/sequence" && grep -qxF "$(cat "${0%/*}/second")" "$dir/sequence" &&
	echo "WARNING: CPU: 0 at somewhere" >"$log"
echo "@start"
echo "@stop"
echo "ok 1 - checked"
[ ! -e "${0%/*}/fails" ] || echo "not ok 2 - something is left"
EOS
chmod +x "$work"/tools/vm/* "$work/tools/testing/ftrace/guest-programs"

"$torture" -n -s 7 >"$work/one"
"$torture" -n -s 7 >"$work/two"
"$torture" -n -s 8 >"$work/three"
"$torture" -n -s 7 toggle module >"$work/few"
ok "a seed gives operations" [ -s "$work/one" ]
ok "the same seed gives the same operations" cmp "$work/one" "$work/two"
ok "another seed gives others" bash -c "! cmp -s '$work/one' '$work/three'"
ok "the operations of a worker do not depend on the other workers" \
	diff <(grep -E '^(toggle|module) ' "$work/one" | LC_ALL=C sort) <(LC_ALL=C sort "$work/few")
ok "an unknown worker is an error" bash -c "'$torture' -n nobody 2>&1 | grep -q 'nobody: one of'"

# A list that does not fail.
echo 'no such line' >"$work/tools/vm/first"
cp "$work/tools/vm/first" "$work/tools/vm/second"
ok "a guest that finds nothing passes" bash -c "'$torture' -m 1 -s 7 | grep -q '^ok 1 - SEED=7'"
touch "$work/tools/vm/fails"
ok "a guest that finds something left has failed" bash -c "! '$torture' -m 1 -s 7 -r 0"
rm "$work/tools/vm/fails"

# Two lines of two workers are the failure.
grep -m 1 '^module insmod' "$work/one" >"$work/tools/vm/first"
grep -m 1 '^filter a set_ftrace_filter' "$work/one" >"$work/tools/vm/second"
"$torture" -m 1 -s 7 -r 300 >"$work/said" 2>&1
status=$?
ok "a warning on the console is a failure" [ $status -eq 1 ]
ok "the warning is printed" grep -q '^# WARNING: CPU: 0 at somewhere' "$work/said"
ok "the failure is reduced to its two lines" diff <(LC_ALL=C sort -u "$work/build/torture-runs/seed-7/reduced") \
	<(LC_ALL=C sort "$work/tools/vm/first" "$work/tools/vm/second")
ok "there are as many lines" [ "$(wc -l <"$work/build/torture-runs/seed-7/reduced")" -eq 2 ]
plan
