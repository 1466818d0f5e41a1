#!/bin/bash
# Whole programs whose waits are logged in-process: they behave as before, and their calls are
# logged. bench/inside.c acts as the tracing process; it ends with 125 if a thread wrote an
# impossible entry.
# shellcheck disable=SC2317 # functions are called through run
. "${0%/*}/../lib.sh"

# FLAME_MAKE is `make` with the flags of the build under test.
eval "build() { ( cd '$ROOT' && ${FLAME_MAKE:-make --no-print-directory} \"\$@\" ); }"
case $O in
/*) dir=$O ;;
*) dir=$ROOT/$O ;;
esac
run_expect_status 0 'bench/inside is built' build "$O/bench/inside"
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
    run_expect_status 3 'a program with an old loader ends with its status' noted sh -c 'exit 3'
    file_has err 'traced by stops alone: libflamegate.so is not where it is linked for' \
        'a program with an old loader is reported as traced by stops'
    done_testing
fi

run_expect_status 0 'ls with logged calls succeeds' noted ls /
is_str "$(cat out)" "$(ls /)" 'ls with logged calls has the same output'
ok 'the calls of ls are logged' test "$(count_of calls)" -gt 0

seq 1 200000 >numbers
run_expect_status 0 'sort with logged calls succeeds' noted sort -rn numbers -o sorted
is_str "$(sha256sum <sorted)" "$(sort -rn numbers | sha256sum)" 'sort with logged calls has the same output'

run_expect_status 3 'a shell with children and logged calls ends with its status' \
    noted bash -c 'a=$(echo x | cat | wc -c); trap : USR1; (kill -USR1 $$) & wait; [ "$a" -eq 2 ] && exit 3'
ok 'the waits of the shell are logged' test "$(count_of sleeps)" -gt 0

run_expect_status 0 'a program with a cleared environment succeeds' noted env -i /bin/echo hello
is_str "$(cat out)" hello 'a program with a cleared environment runs without the library'

run_expect_status 0 'threads, children and signals of Python with logged calls succeed' \
    noted python3 "$ROOT/tests/victims/patch/many.py"
file_has out '^fine$' 'Python with logged calls behaves as before'
ok 'the sleeps of Python have wakers' test "$(count_of 'with a waker')" -gt 0

"${CXX:-g++}" -O1 -g -pthread -o destroyed "$ROOT/tests/victims/patch/destroyed.cc"
run_expect_status 0 'threads cancelled in logged calls: the program succeeds' noted ./destroyed
file_has out '^all destroyed$' 'threads cancelled in logged calls run all destructors'

done_testing
