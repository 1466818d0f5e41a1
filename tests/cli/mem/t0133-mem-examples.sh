#!/bin/bash
# examples/flamemem/: each function of flamemem.h in a program that is built as its first comment says, and
# prints what that comment says.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

# With what is installed, not with the sources.
mkdir include
cp "$ROOT"/preload/flamemem.h* include
build() {
    local name=$1 compiler=${CC:-gcc}
    case $name in *.cc) compiler=${CXX:-g++} ;; esac
    shift
    run_expect_status 0 "$name is built" "$compiler" -Wall -Wextra -Werror -g -I include \
        -o "${name%.*}" "$ROOT/examples/flamemem/$name" "$@"
}

# Each function is in an example.
for function in $(grep -oE 'flamemem_[a-z_]+\(' "$ROOT/preload/flamemem.h" | sort -u | tr -d '('); do
    grep -rqF "$function(" "$ROOT/examples/flamemem" || test_fail "$function has an example"
    grep -qE "^\.Fn $function|^\.Fo $function|\.Fn $function" "$ROOT/man/flamemem.3" ||
        test_fail "$function is in flamemem(3)"
done

build tags.c
run_expect_status 0 'flame mem of the example tags succeeds' \
    "$FLAME" mem -q --view live -o tags.folded -- ./tags
sums() { t=$1 awk 'index($0, ENVIRON["t"]) == 1 { n += $NF } END { print n + 0 }' "$2"; }
is_str "$(sums 'tags;[tag: get];' tags.folded) $(sums 'tags;[tag: put];' tags.folded) $(
    sums 'tags;[tag: put];[tag: index];' tags.folded)" '5000 50800 800' \
    'the example tags: live bytes below each tag'

build pause.c
run_expect_status 0 'flame mem of the example pause succeeds' "$FLAME" mem -o pause.folded -- ./pause
is_str "$(cat out)" 'answer: row 7' 'the example pause prints its answer'
file_has err '^flame: not counted, as the program paused the recording: 1,000 calls \(31.25 KiB, 32,000 bytes\)$' \
    'the example pause: the summary counts the paused calls'
file_lacks pause.folded 'load_table' 'the example pause: the table of the pause is not recorded'
file_has pause.folded ';answer 64$' 'the example pause: later blocks are recorded'

build snapshot.c
mkdir snapshots
run_expect_status 0 'flame mem --snapshots of the example snapshot succeeds' \
    "$FLAME" mem -q --snapshots snapshots -o s.svg -- ./snapshot
is_str "$(cat out)" '0 999, 2 snapshots' 'the example snapshot prints that it took two'
run_expect_status 0 'diff of two snapshots succeeds' \
    "$FLAME" diff --view live snapshots/snapshot.*-1-loaded.flame snapshots/snapshot.*-2-sorted.flame
file_has out ';load 12000 4000$' 'diff of two snapshots has the freed blocks'
file_has out ';sort 0 8000$' 'diff of two snapshots has the new blocks'

build passes.c
run_expect_status 23 'flame leak --growth of the example passes ends with status 23' \
    "$FLAME" leak -q --growth -o p.flame -- ./passes
run_expect_status 23 'flame leak of the example passes ends with status 23' "$FLAME" leak -o p.flame -- ./passes
file_has out '^500 bytes lost$' 'the example passes prints the bytes that its region lost'
file_has err 'region lose a block: lose' 'flame leak names the region of the example passes that lost a block'

build scopes.cc
run_expect_status 0 'flame mem of the example scopes succeeds' \
    "$FLAME" mem --view live --snapshots snapshots -o c.flame -- ./scopes
is_str "$(cat out)" '20 blocks, snapshot 1, left 0' 'the example scopes prints its counts'
"$FLAME" fold --no-header --view live c.flame >scopes.folded
is_str "$(sums 'scopes;[tag: even];' scopes.folded) $(sums 'scopes;[tag: odd];' scopes.folded)" '5000 5000' \
    'the example scopes: an exception ends the tag'
file_has scopes.folded '^scopes;_start.* 7$' 'the example scopes: blocks after the tag have none'
file_has err 'not counted, .*: 9 calls \(450 bytes\)' 'the example scopes: the summary counts the paused calls'
run_expect_status 0 'the example scopes compiles as C++11' \
    "${CXX:-g++}" -std=c++11 -fsyntax-only -Wall -Wextra -Werror -I include "$ROOT/examples/flamemem/scopes.cc"
build arena.c
run_expect_status 0 'flame mem of the example arena succeeds' \
    "$FLAME" mem -q --view live -o arena.folded -- ./arena
is_str "$(cat out)" '4944 bytes used' 'the example arena prints its bytes'
"$FLAME" mem -q --view live -o arena.flame -- ./arena >out
"$FLAME" fold --no-header --no-inline --view live arena.flame >arena.folded
of() { f=";$1;" awk 'index($0, ENVIRON["f"]) { n += $NF } END { print n + 0 }' arena.folded; }
is_str "$(of parse_names) $(of parse_numbers)" '3200 1744' 'the example arena: its blocks count by stack'
is_str "$(awk '/;new_arena / { n += $NF } END { print n }' arena.folded)" 60592 \
    'the example arena: the unused rest counts for the arena'

# CPython's hooks.
python=$(command -v /usr/bin/python3 || command -v python3)
if [ -n "$python" ]; then
    build pymem.c -shared -fPIC
    work='import ctypes, sys
if sys.argv[1:]:
    ctypes.PyDLL("./pymem").pymem_start()
kept = [str(i) * 3 for i in range(10000)]
for i in range(100000):
    kept[i % 10000] = str(i) * 3
print(len(kept))'
    run_expect_status 0 "flame mem of Python without pymem's hooks succeeds" \
        "$FLAME" mem -q -o no.flame -- "$python" -c "$work"
    run_expect_status 0 "flame mem of Python with pymem's hooks succeeds" \
        "$FLAME" mem -q -o yes.flame -- "$python" -c "$work" 1
    is_str "$(cat out)" 10000 "Python with pymem's hooks prints its result"
    hooked() { "$FLAME" fold --no-header --no-inline --view "$1" "$2" | awk '/;hook_[a-z]+ / { n += $NF } END { print n + 0 }'; }
    is_int "$(hooked alloc no.flame)" 0 "malloc does not show Python's small objects"
    ok "pymem's hooks show each small object" test "$(hooked count yes.flame)" -ge 110000
    ok "pymem's hooks show each free of a small object" test "$(hooked live yes.flame)" -lt 3000000
    run_expect_status 0 "Python with pymem's hooks runs without the recorder" "$python" -c "$work" 1
else
    skip python3 'there is no python3'
fi

for program in tags pause snapshot passes scopes arena; do
    run_expect_status 0 "the example $program runs without libflamemem.so" "./$program"
done
done_testing
