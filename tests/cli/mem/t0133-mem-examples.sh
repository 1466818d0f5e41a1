#!/bin/bash
# examples/flamemem/: each function of flamemem.h in a program that is built as its head says, and
# shows what it says.
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

# Every function is in one of them.
for function in $(grep -oE 'flamemem_[a-z_]+\(' "$ROOT/preload/flamemem.h" | sort -u | tr -d '('); do
    grep -rqF "$function(" "$ROOT/examples/flamemem" || test_fail "$function has an example"
    grep -qE "^\.Fn $function|^\.Fo $function|\.Fn $function" "$ROOT/man/flamemem.3" ||
        test_fail "$function is in flamemem(3)"
done

build tags.c
run_expect_status 0 'tags' "$FLAME" mem -q --view live -o tags.folded -- ./tags
sums() { t=$1 awk 'index($0, ENVIRON["t"]) == 1 { n += $NF } END { print n + 0 }' "$2"; }
is_str "$(sums 'tags;[tag: get];' tags.folded) $(sums 'tags;[tag: put];' tags.folded) $(
    sums 'tags;[tag: put];[tag: index];' tags.folded)" '5000 50800 800' 'tags at the bottom'

build pause.c
run_expect_status 0 'pause' "$FLAME" mem -o pause.folded -- ./pause
is_str "$(cat out)" 'answer: row 7' 'does its work'
file_has err '^flame: left out, as the program paused the recording: 1,000 calls \(31.25 KiB, 32,000 bytes\)$' 'the summary'
file_lacks pause.folded 'load_table' 'and the table is not there'
file_has pause.folded ';answer 64$' 'but what came later'

build snapshot.c
mkdir snapshots
run_expect_status 0 'snapshots' "$FLAME" mem -q --snapshots snapshots -o s.svg -- ./snapshot
is_str "$(cat out)" '0 999, 2 snapshots' 'are kept'
run_expect_status 0 'and compared' "$FLAME" diff --view live snapshots/snapshot.*-1-loaded.flame snapshots/snapshot.*-2-sorted.flame
file_has out ';load 12000 4000$' 'what went'
file_has out ';sort 0 8000$' 'and what came'

build passes.c
run_expect_status 23 'marks' "$FLAME" leak -q --growth -o p.flame -- ./passes
run_expect_status 23 'regions' "$FLAME" leak -o p.flame -- ./passes
file_has out '^500 bytes lost$' 'the program is told'
file_has err 'region lose a block: lose' 'and flame leak says so'

build scopes.cc
run_expect_status 0 'C++' "$FLAME" mem --view live --snapshots snapshots -o c.flame -- ./scopes
is_str "$(cat out)" '20 blocks, snapshot 1, left 0' 'does its work'
"$FLAME" fold --no-header --view live c.flame >scopes.folded
is_str "$(sums 'scopes;[tag: even];' scopes.folded) $(sums 'scopes;[tag: odd];' scopes.folded)" '5000 5000' \
    'an exception ends the tag'
file_has scopes.folded '^scopes;_start.* 7$' 'and what comes later has none'
file_has err 'left out, .*: 9 calls \(450 bytes\)' 'a pause is a block'
run_expect_status 0 'older C++' "${CXX:-g++}" -std=c++11 -fsyntax-only -Wall -Wextra -Werror -I include "$ROOT/examples/flamemem/scopes.cc"
build arena.c
run_expect_status 0 'arena' "$FLAME" mem -q --view live -o arena.folded -- ./arena
is_str "$(cat out)" '4944 bytes used' 'does its work'
"$FLAME" mem -q --view live -o arena.flame -- ./arena >out
"$FLAME" fold --no-header --no-inline --view live arena.flame >arena.folded
of() { f=";$1;" awk 'index($0, ENVIRON["f"]) { n += $NF } END { print n + 0 }' arena.folded; }
is_str "$(of parse_names) $(of parse_numbers)" '3200 1744' 'its blocks are seen by stack'
is_str "$(awk '/;new_arena / { n += $NF } END { print n }' arena.folded)" 60592 'and what is left of its memory'

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
    run_expect_status 0 'Python without the hooks' "$FLAME" mem -q -o no.flame -- "$python" -c "$work"
    run_expect_status 0 'and with them' "$FLAME" mem -q -o yes.flame -- "$python" -c "$work" 1
    is_str "$(cat out)" 10000 'does its work'
    hooked() { "$FLAME" fold --no-header --no-inline --view "$1" "$2" | awk '/;hook_[a-z]+ / { n += $NF } END { print n + 0 }'; }
    is_int "$(hooked alloc no.flame)" 0 'malloc sees nothing of small objects'
    ok 'the hooks see every one' test "$(hooked count yes.flame)" -ge 110000
    ok 'and that they go' test "$(hooked live yes.flame)" -lt 3000000
    run_expect_status 0 'without the recorder' "$python" -c "$work" 1
else
    skip python3 'there is no python3'
fi

for program in tags pause snapshot passes scopes arena; do
    run_expect_status 0 "$program runs without the library" "./$program"
done
done_testing
