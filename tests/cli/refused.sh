# shellcheck shell=bash
# refused.sh: for tests of errors that a command reports before it runs anything. Source it
# after lib.sh.
#
#   ./touch.sh                      leaves the file `ran` if it runs
#   refused NAME WHAT ARGUMENT...   `flame ARGUMENT...` fails with one line that has a
#                                   match of WHAT, and leaves nothing behind

mkdir tmp
export TMPDIR=$SCRATCH/tmp
printf '#!/bin/sh\ntouch "%s/ran"\n' "$SCRATCH" >touch.sh
chmod +x touch.sh

refused() {
    local name=$1 what=$2
    shift 2
    run_expect_status 2 "$name: flame ends with status 2" "$FLAME" "$@"
    is_int "$(wc -l <err)" 1 "$name: flame prints one line"
    file_has err "$what" "$name: flame says why"
    is_str "$(cat out)" '' "$name: flame prints nothing on standard output"
    not_ok "$name: the command does not run" test -e ran
    not_ok "$name: no output file is written" test -e x.svg
    is_str "$(ls tmp)" '' "$name: no file is left in TMPDIR"
}
