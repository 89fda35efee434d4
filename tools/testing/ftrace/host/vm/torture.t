#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# torture without a guest: a seed gives the same operations each time, and what the guest or its console
# says is a failure. A script stands in for the guest.

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
	[ "$opt" != l ] || log=$OPTARG
done
[ ! -e "${0%/*}/warns" ] || echo "WARNING: CPU: 0 at somewhere" >"$log"
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

ok "a guest that finds nothing passes" bash -c "'$torture' -m 1 -s 7 | grep -q '^ok 1 - SEED=7'"
touch "$work/tools/vm/fails"
ok "a guest that finds something left has failed" bash -c "! '$torture' -m 1 -s 7"
mv "$work/tools/vm/fails" "$work/tools/vm/warns"
"$torture" -m 1 -s 7 >"$work/said" 2>&1
status=$?
ok "a warning on the console is a failure" [ $status -eq 1 ]
ok "the warning is printed" grep -q '^# WARNING: CPU: 0 at somewhere' "$work/said"
plan
