#!/bin/bash
# Whole programs whose waits are noted from inside: they behave as before, and their calls are
# noted. bench/inside.c stands in for the tracing process; it ends with 125 if a thread wrote what
# cannot be.
# shellcheck disable=SC2317 # functions are called through run
. "${0%/*}/../lib.sh"

# FLAME_MAKE is `make` with the flags of the build under test.
eval "build() { ( cd '$ROOT' && ${FLAME_MAKE:-make --no-print-directory} \"\$@\" ); }"
case $O in
/*) dir=$O ;;
*) dir=$ROOT/$O ;;
esac
run_expect_status 0 'the reader is built' build "$O/bench/inside"
[ "$status" -eq 0 ] || done_testing

noted() {
    "$dir/bench/inside" -m "${SHIM%/*}/libflamewait.so" "$@"
}
# "N calls, N stacks, N sleeps, N with a waker" is the last line of the reader's.
count_of() {
    tail -n 1 err | WHAT=$1 awk -F', ' '{ for (i = 1; i <= NF; i++) { n = $i; sub(/^[0-9]+ /, "", n)
        if (n == ENVIRON["WHAT"]) print $i + 0 } }'
}

# Loaders before glibc 2.36 do not put the gate where it is linked for.
libc=$(getconf GNU_LIBC_VERSION)
if [ "${libc##*.}" -lt 36 ]; then
    run_expect_status 3 'a program with such a loader' noted sh -c 'exit 3'
    file_has err 'traced by stops alone: libflamegate.so is not where it is linked for' \
        'is said to be traced from outside'
    done_testing
fi

run_expect_status 0 'a short program' noted ls /
is_str "$(cat out)" "$(ls /)" 'its output is the same'
ok 'its calls were noted' test "$(count_of calls)" -gt 0

seq 1 200000 >numbers
run_expect_status 0 'sort' noted sort -rn numbers -o sorted
is_str "$(sha256sum <sorted)" "$(sort -rn numbers | sha256sum)" 'its output is the same'

run_expect_status 3 'a shell with children' noted bash -c 'a=$(echo x | cat | wc -c); trap : USR1; (kill -USR1 $$) & wait; [ "$a" -eq 2 ] && exit 3'
ok 'its waits were seen' test "$(count_of sleeps)" -gt 0

run_expect_status 0 'a program with a cleared environment' noted env -i /bin/echo hello
is_str "$(cat out)" hello 'runs without the library'

run_expect_status 0 'threads, children and signals of Python' noted python3 "$ROOT/tests/victims/patch/many.py"
file_has out '^fine$' 'all is as it was'
ok 'its sleeps have wakers' test "$(count_of 'with a waker')" -gt 0

"${CXX:-g++}" -O1 -g -pthread -o destroyed "$ROOT/tests/victims/patch/destroyed.cc"
run_expect_status 0 'threads cancelled in calls' noted ./destroyed
file_has out '^all destroyed$' 'ran all destructors, through the stubs and the gate'

done_testing
