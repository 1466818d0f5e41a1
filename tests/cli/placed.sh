# shellcheck shell=bash
# placed.sh: the victim `placed` with its libraries, and a library with a hostile name ($HOSTILE),
# all recorded into placed.flame. Source it behind lib.sh.

# shellcheck disable=SC2034 # the tests' own
HOSTILE=$'lib<script>alert(1);a b\n"\'`.so'

place() {
    local to=$1 take=$2
    shift 2
    ok "a library is built: ${to%%[<.]*}" "${CC:-gcc}" -O1 -g -fno-optimize-sibling-calls -shared \
        -fPIC "-DTAKE=take_$take" -o "$to" "$ROOT/tests/victims/mem/placed_lib.c" "$@"
}

place libone.so one
place libtwo.so two
place libthree.so three -s
place "$HOSTILE" more
compile_victim placed ./libone.so ./libtwo.so ./libthree.so -pthread -ldl -Wl,-rpath,"$SCRATCH"
run_expect_status 0 'placed is recorded' "$FLAME" mem -q -o placed.flame ./placed "./$HOSTILE"

# places [OPTION...]: "BYTES/BYTES NAME" of self and total of each row that matches $rows.
places() {
    "$FLAME" top -e -n 0 "$@" placed.flame placed.flame/2 |
        awk 'NR > 2 { self = $1; total = $3; gsub(",", "", self); gsub(",", "", total)
            sub(/^ *[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +/, ""); print self "/" total " " $0 }' |
        grep -E "${rows:-.}" | sort
}
