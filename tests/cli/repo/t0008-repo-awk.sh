#!/bin/bash
# The scripts use only features of awk that every awk has: mawk, which Debian brings, and gawk.
. "${0%/*}/../lib.sh"
cd "$ROOT" || exit 1

scripts=$(find .ci Makefile bench scripts tests/cli tests/programs -name "${0##*/}" -prune -o -type f \
    '(' -name '*.sh' -o -name run -o -name full -o -name Makefile ')' -print)

# gawk takes backslashes for escapes in a value that -v gives, so that "\[" is "[";
# Debian's mawk leaves them alone. ENVIRON does not change it.
# shellcheck disable=SC2086 # names without blanks
is_str "$(grep -nE '\bawk\b([^|]* )?-v ' $scripts)" '' 'awk gets its variables by ENVIRON, not by -v'
# shellcheck disable=SC2086
is_str "$(grep -nwE 'gensub|strftime|systime|asorti?|patsplit|nextfile|PROCINFO|BEGINFILE|ENDFILE|IGNORECASE' \
    $scripts)" '' 'no script uses a feature that only gawk has'

printf 'futex_[w] 1\nfutexw 2\n' >"$SCRATCH/in"
. "$ROOT/tests/cli/off.sh"
for awk in mawk gawk original-awk; do
    if command -v $awk >/dev/null; then
        mkdir "$SCRATCH/$awk"
        ln -s "$(command -v $awk)" "$SCRATCH/$awk/awk"
        is_str "$(PATH=$SCRATCH/$awk:$PATH && sum 'futex_\[w\]' <"$SCRATCH/in")" 1 \
            "$awk: a regular expression in ENVIRON is unchanged"
    fi
done
done_testing
