# shellcheck shell=bash disable=SC2034 # status is for the tests
# mem.sh: for the tests of the memory recorder. Source it after lib.sh.
#
#   record OPTIONS COMMAND...   runs COMMAND under the shim with FLAMEMEM_OPTIONS
#                               OPTIONS and out=$SCRATCH/t.flame first; $status,
#                               $SCRATCH/out and $SCRATCH/err as run leaves them
#   fview V [FILE...]            folded stacks of a view of t.flame (or FILEs)
#   total V [FILE...]           the sum of its counts
#   on_disk FILE                its bytes on disk: a live trace ends in a hole
#   from_main                   cuts folded lines to what is below main()
#   use_own_tmpdir              TMPDIR is an empty directory, on a file system that tells who
#                               has a file open for writing

record() {
    local options=$1
    shift
    rm -f "$SCRATCH"/t.flame*
    status=0
    { LD_PRELOAD="$SHIM${BENEATH:+ $BENEATH}" \
        FLAMEMEM_OPTIONS="out=$SCRATCH/t.flame${options:+:$options}" \
        "$@" >"$SCRATCH/out" 2>"$SCRATCH/err"; } 2>/dev/null || status=$?
}

fview() {
    local v=$1
    shift
    [ $# -gt 0 ] || set -- "$SCRATCH/t.flame"
    "$FLAME" fold --no-header --view "$v" "$@"
}

# awk's numbers are doubles, exact up to 2^53: far above what the victims count.
total() {
    fview "$@" 2>/dev/null | awk '{ sum += $NF } END { printf "%.0f\n", sum }'
}

on_disk() {
    echo $(($(stat -c %b "$1") * 512))
}

from_main() {
    sed -n 's/^.*;main\([; ]\)/main\1/p' | sed 's/ \[[^];]*\]//g' | sort
}

use_own_tmpdir() {
    case $(stat -f -c %T "$SCRATCH") in
        ext2/ext3 | tmpfs | xfs | btrfs | f2fs)
            export TMPDIR=$SCRATCH/tmp
            mkdir "$TMPDIR"
            ;;
        *)
            TMPDIR=$(mktemp -d /dev/shm/flame-test.XXXXXX) || exit 1
            export TMPDIR
            # shellcheck disable=SC2154 # lib.sh's
            trap 'case $BASHPID in "$tap_owner") rm -rf "$TMPDIR" ;; esac; tap_cleanup' EXIT
            ;;
    esac
}

build_counter() {
    compile_victim libcount -shared -fPIC -O2
    mv "$SCRATCH/libcount" "$SCRATCH/libcount.so"
}
