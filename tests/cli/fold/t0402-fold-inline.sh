#!/bin/bash
# flame fold: inlined frames and lines, C++ names, and debug information of all kinds.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
# The C library's own functions have names here.
unset FLAME_DEBUG_DIRS

cat >prog.cc <<'END'
#include <cstdlib>
void *volatile keep;
namespace space {
struct thing {
    template <typename T> __attribute__((always_inline)) inline void inner(T n)
    {
        keep = malloc(n); /* line 7 */
    }
    __attribute__((always_inline)) inline void outer(int n)
    {
        inner<long>(n); /* line 11 */
    }
};
__attribute__((noinline)) void run(int n)
{
    thing t;
    t.outer(n); /* line 17 */
    __asm__ volatile("");
}
}
int main(int argc, char **)
{
    auto lambda = [](int n) __attribute__((noinline)) {
        space::thing().outer(n); /* line 24 */
        __asm__ volatile("");
    };
    space::run(99 + argc); /* line 27 */
    lambda(49 + argc); /* line 28 */
    return 0;
}
END

# Below the start-up code. Compilers clone functions, and clang numbers lambdas in
# its own way: both differences are removed.
below_main() {
    "$FLAME" fold --no-header "$@" t.flame |
        sed -n -E 's/^prog;.*__libc_start_(call_)?main[^;]*;(main.*)$/\2/p' |
        sed -E 's/ \[clone [^]]*\]//; s/\.(constprop|isra)\.0//g; s/main::\$_0/main::{lambda(int)#1}/'
}

inlined='main;main::{lambda(int)#1}::operator()(int) const;space::thing::outer(int)_[i];void space::thing::inner<long>(long)_[i] 50
main;space::run(int);space::thing::outer(int)_[i];void space::thing::inner<long>(long)_[i] 100'
lines='main prog.cc:27;space::run(int) prog.cc:17;space::thing::outer(int) prog.cc:11_[i];void space::thing::inner<long>(long) prog.cc:7_[i] 100
main prog.cc:28;main::{lambda(int)#1}::operator()(int) const prog.cc:24;space::thing::outer(int) prog.cc:11_[i];void space::thing::inner<long>(long) prog.cc:7_[i] 50'

check_build() {
    local name=$1
    shift
    if ! "$@" -O2 -fno-optimize-sibling-calls -o prog prog.cc 2>cc.err; then
        test_fail "$name: prog is built" "$(cat cc.err)"
        return
    fi
    record '' ./prog
    is_str "$(below_main)" \
        "$inlined" "$name: inlined frames"
    is_str "$(below_main --lines)" \
        "$lines" "$name: lines"
}

check_build 'DWARF 5' g++ -g -gdwarf-5
cp prog prog5
is_str "$(below_main --no-inline)" 'main;main::{lambda(int)#1}::operator()(int) const 50
main;space::run(int) 100' 'fold --no-inline has no inlined frames'
is_str "$(below_main --inline)" "$inlined" 'fold --inline has inlined frames'
is_str "$(below_main --no-demangle --no-inline)" 'main;_ZN5space3runEi 100
main;_ZZ4mainENKUliE_clEi 50' 'fold --no-demangle has mangled names'
is_str "$(below_main --no-inline --lines)" 'main prog.cc:27;space::run(int) prog.cc:17 100
main prog.cc:28;main::{lambda(int)#1}::operator()(int) const prog.cc:24 50' 'fold --no-inline --lines has lines'

# As with gcc 10 and its assembler, which without a file 0 writes an older line table.
# shellcheck disable=SC2317 # check_build calls it
lines_of_dwarf3() { # OPTION... -o PROGRAM SOURCE
    g++ -g -gdwarf-5 -S "${@:1:$#-3}" -o mixed.s "${@: -1}" && sed -i '/\.file 0 /d' mixed.s &&
        g++ -o "${@:$#-1:1}" mixed.s
}
check_build 'DWARF 5 with older lines' lines_of_dwarf3
like "$(readelf --debug-dump=rawline prog | grep 'DWARF Version')" ' [23]$' \
    'the older line table is of DWARF 2 or 3'

check_build 'DWARF 4' g++ -g -gdwarf-4
check_build 'compressed' g++ -g -gz
check_build 'no lambdas at the top' g++ -g -ffunction-sections -Wl,--gc-sections
if command -v clang++ >/dev/null; then
    check_build 'clang, DWARF 5' clang++ -g -gdwarf-5
    check_build 'clang, DWARF 4' clang++ -g -gdwarf-4
else
    diag 'no clang++ here'
fi

# In a separate file, found by build-id.
g++ -O2 -fno-optimize-sibling-calls -g -Wl,--build-id=sha1 -o prog prog.cc
id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/${id:0:2}"
objcopy --only-keep-debug prog "debug/.build-id/${id:0:2}/${id:2}.debug"
strip -s prog
record '' ./prog
is_str "$(below_main --debug-dir debug --lines)" "$lines" 'debug information in a separate file is used'

# Shared by several files (dwz).
if command -v dwz >/dev/null; then
    g++ -O2 -fno-optimize-sibling-calls -g -Wl,--build-id=sha1 -o prog prog.cc
    cp prog twin
    dwz -m shared.dwz -M "$PWD/shared.dwz" prog twin
    record '' ./prog
    is_str "$(below_main --lines)" "$lines" 'debug information shared by dwz is used'
else
    skip dwz 'no dwz here'
fi

# Debug information that is damaged costs its own frames only.
cp prog5 prog
record '' ./prog
for section in info abbrev line str rnglists; do
    # The noise is the same each time, so that a failure can be reproduced.
    python3 -c 'import random, sys; random.seed(sys.argv[1]); sys.stdout.buffer.write(random.randbytes(100000))' \
        $section >noise
    objcopy --update-section .debug_$section=noise prog5 spoiled 2>/dev/null || continue
    cp spoiled prog
    run_expect_status 0 "fold with noise in .debug_$section succeeds" "$FLAME" fold --lines t.flame
    file_has out ';space::run\(int\).* 100$' "fold with noise in .debug_$section has names"
    # A sanitizer's report of what libdwarf does is shown as it is.
    [ -n "${SAN-}" ] || ok "fold with noise in .debug_$section prints at most one line" \
        test "$(wc -l <err)" -le 1
done

done_testing
