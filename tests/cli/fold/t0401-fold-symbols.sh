#!/bin/bash
# flame fold: names from each place that has them, and from no wrong place.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
# The C library's own functions have names here.
unset FLAME_DEBUG_DIRS

cat >prog.c <<'END'
#include <stdlib.h>
void *volatile keep;
/* One exported function, and one that only symbols name. */
__attribute__((noinline)) void exported(int n) { keep = malloc(n); __asm__ volatile(""); }
__attribute__((noinline)) static void hidden(int n) { keep = malloc(n); __asm__ volatile(""); exported(n); __asm__ volatile(""); }
int main(void) { hidden(100); __asm__ volatile(""); return 0; }
END
ok 'full is built' gcc -O1 -rdynamic -Wl,--build-id=sha1 -o full prog.c

# Each case is its own file in its own directory, run from there, so
# that a recording finds the very file that was run.
name_case() {
    mkdir -p "in-$1"
    cp "${2:-full}" "in-$1/prog"
}

# The stacks below the start-up code, without counts.
stacks() {
    "$FLAME" fold --no-header --no-inline "$@" 2>fold.err | sed -n 's/^prog;\(.*;\)\{0,1\}__libc_start_\(call_\)\{0,1\}main;\(.*\) [0-9]*$/\3/p'
}
named='main;hidden
main;hidden;exported'

name_case full
record '' in-full/prog
is_str "$(stacks t.flame)" "$named" 'symbols of the file are used'

strip -s -o stripped full
name_case stripped stripped
record '' in-stripped/prog
like "$(stacks t.flame | head -n 1)" '^main;\[prog\+0x[0-9a-f]+\]$' \
    'a stripped file: dynamic symbols do not name other functions'
like "$(stacks t.flame | tail -n 1)" ';exported$' 'a stripped file: exported functions have names'
offset=$(stacks t.flame | sed -n '1s/.*+\(0x[0-9a-f]*\)\]$/\1/p')
like "$(addr2line -f -e full "$(printf '0x%x' $((offset - 1)))" | head -n 1)" '^hidden$' \
    'a stripped file: the offset leads to the function'
cp t.flame stripped.flame

# Assembly without sizes: what lies behind an exported function may be another one. C has no way to leave out
# a function's size.
if [ "$(uname -m)" = x86_64 ]; then
    cat >unsized.c <<'END'
#include <stdlib.h>
void *volatile kept;
__attribute__((noinline, noclone)) void *get(void) { return kept = malloc(100); }
void near(void), *far(void);
#define CALLS(name)                                                                                  \
    ".type " name ", @function\n" name ":\n.cfi_startproc\nsub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"  \
    "call get\nadd $8, %rsp\n.cfi_adjust_cfa_offset -8\nret\n.cfi_endproc\n"
__asm__(".text\n.globl near\n" CALLS("near") ".skip 256, 0x90\n" CALLS("far"));
int main(void)
{
    near();
    return !far();
}
END
    gcc -O1 -rdynamic -no-pie -o unsized unsized.c
    name_case unsized unsized
    record '' in-unsized/prog
    is_str "$(stacks t.flame)" $'main;far;get\nmain;near;get' 'functions without a size have names'
    strip -s -o short unsized
    name_case short short
    record '' in-short/prog
    like "$(stacks t.flame | tr '\n' ' ')" '^main;\[prog\+0x[0-9a-f]+\];get main;near;get $' \
        'a stripped file: a function without a size does not name what lies far behind it'
fi

# ---- separate debug files ----

objcopy --only-keep-debug full prog.debug
id=$(readelf -n full | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/${id:0:2}" "wrong/.build-id/${id:0:2}"
cp prog.debug "debug/.build-id/${id:0:2}/${id:2}.debug"
is_str "$(stacks --debug-dir debug stripped.flame)" "$named" 'a debug file by build-id is used'
is_str "$(FLAME_DEBUG_DIRS=/nowhere:$PWD/debug stacks stripped.flame)" "$named" \
    'a debug file from FLAME_DEBUG_DIRS is used'
sed 's/100/101/' prog.c >other.c
gcc -O1 -rdynamic -Wl,--build-id=sha1 -o other other.c
objcopy --only-keep-debug other "wrong/.build-id/${id:0:2}/${id:2}.debug"
like "$(stacks --debug-dir wrong stripped.flame | head -n 1)" '\+0x' \
    'a debug file of another program is not used'
is_str "$(stacks --debug-dir wrong --debug-dir debug stripped.flame)" "$named" \
    'a second --debug-dir is used after a wrong debug file'

gcc -O1 -rdynamic -Wl,--build-id=none -o noid prog.c
objcopy --only-keep-debug noid noid.debug
objcopy --strip-all --add-gnu-debuglink=noid.debug noid linked
for place in beside .debug global; do
    name_case "link-$place" linked
    case $place in
    beside) to=in-link-beside ;;
    .debug) to=in-link-.debug/.debug ;;
    global) to=tree$PWD/in-link-global ;;
    esac
    mkdir -p "$to"
    cp noid.debug "$to/"
    record '' "in-link-$place/prog"
    is_str "$(stacks --debug-dir tree t.flame)" "$named" "a debug file by link is used: $place"
    echo changed >>"$to/noid.debug"
    like "$(stacks --debug-dir tree t.flame | head -n 1)" '\+0x' \
        "a debug file by link is not used if its checksum differs: $place"
done

# ---- packed symbols ----

if command -v xz >/dev/null; then
    objcopy -S --strip-unneeded prog.debug mini 2>/dev/null || cp prog.debug mini
    xz -k --stdout prog.debug >mini.xz
    objcopy --add-section .gnu_debugdata=mini.xz stripped packed
    name_case packed packed
    record '' in-packed/prog
    is_str "$(stacks t.flame)" "$named" 'symbols in .gnu_debugdata are used'
    head -c 200 mini.xz >cut.xz
    objcopy --add-section .gnu_debugdata=cut.xz stripped spoiled
    name_case spoiled spoiled
    record '' in-spoiled/prog
    like "$(stacks t.flame | head -n 1)" '\+0x' 'damaged symbols in .gnu_debugdata are not used'
else
    skip xz 'no xz to pack with'
fi

# ---- the file has changed ----

name_case changing
record '' in-changing/prog
cp other in-changing/prog
like "$(stacks t.flame | head -n 1)" '^\[prog\+0x[0-9a-f]+\];\[prog' 'a program built again gives no names'
like "$(cat fold.err)" '^flame: .*/in-changing/prog: not the file that was recorded' \
    'a program built again is reported'
is_int "$(grep -c 'not the file' fold.err)" 1 'a program built again is reported once'
is_str "$(stacks --debug-dir debug t.flame)" "$named" \
    'a program built again has its names from the old debug file'
is_str "$(cat fold.err)" '' 'a program built again with the old debug file is not reported'
rm in-changing/prog
like "$(stacks t.flame | head -n 1)" '^\[prog\+0x[0-9a-f]+\];\[prog' 'a program that is removed gives no names'
is_str "$(stacks --debug-dir debug t.flame)" "$named" \
    'a program that is removed has its names from its debug file'

# ---- a signal handler's frames ----

cat >sig.c <<'END'
#include <signal.h>
#include <stdlib.h>
void *volatile keep;
void handler(int sig) { (void)sig; keep = malloc(10); __asm__ volatile(""); }
int main(void)
{
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    return 0;
}
END
ok 'sig is built' gcc -O1 -o sig sig.c
record '' ./sig
like "$("$FLAME" fold --no-inline t.flame)" ';main;.*raise.*;__restore_rt;handler 10$' \
    'a stack goes through the signal frame to the interrupted function'

# If most places in the code have no name, one line says so, and where to get names.
{
    echo '#include <stdlib.h>'
    for i in $(seq 80); do
        echo "__attribute__((noinline)) void f$i(void) { void *volatile p = malloc($i); (void)p; }"
    done
    echo 'int main(void) {'
    seq -f 'f%g();' 80
    echo 'return 0; }'
} >places.c
ok 'places is built' "${CC:-gcc}" -g -O1 -o places places.c
strip -o bare places
run_expect_status 0 'flame mem of a stripped program succeeds' "$FLAME" mem -o bare.folded -- ./bare
like "$(grep 'have no name' err)" \
    '^flame: [0-9]+ of [0-9]+ places in the code have no name and show as offsets, [0-9]+ of them in .*/bare; it was stripped: ' \
    "a stripped program's missing names are reported"
run_expect_status 0 'flame mem -q of a stripped program succeeds' "$FLAME" mem -q -o bare.folded -- ./bare
file_lacks err 'have no name' 'flame mem -q does not report missing names'
run_expect_status 0 'flame mem of a program with symbols succeeds' "$FLAME" mem -o whole.folded -- ./places
file_lacks err 'have no name' 'a program with symbols has no missing names'
run_expect_status 0 'flame mem of a short shell command succeeds' \
    "$FLAME" mem -o little.folded -- dash -c 'echo a'
file_lacks err 'have no name' 'few missing names are not reported'
cat >much.sh <<'EOF'
f() { x=$x$1; case $x in a*) y=1 ;; *) y=2 ;; esac; }
for i in a b c; do f $i; done
set -- $x
trap 'echo bye' EXIT
alias q=ls
read z <<END
word $x
END
while [ ${#x} -lt 9 ]; do x=$x.; done
export x
unset y
printf '%s\n' "${x#a}" "${x%.}" $((3 * 4))
echo $(echo $x) `umask` *
cd /
eval 'g() { return 3; }; g || true'
test -f /x || command -v sh
l() { local k=1; echo $k; }
l
getopts ab o -a
kill -l >/dev/null
{ echo a; echo b; } | { read r; echo $r; }
ulimit -a
(exit 2)
readonly ro=1
. /dev/null
until true; do :; done
EOF
run_expect_status 0 'flame mem of dash succeeds' "$FLAME" mem -q -o dash.flame -- dash much.sh
run_expect_status 0 'fold of dash succeeds' "$FLAME" fold dash.flame
if grep -q '\[dash+0x' out; then
    file_has err '^flame: [0-9]+ of [0-9]+ places .* of them in (/usr)?/bin/dash; Debian has its symbols in the package dash-dbgsym: (.* && )?sudo apt install dash-dbgsym$' \
        "the package with dash's symbols is named, with the command that adds it"
else
    file_lacks err 'have no name' 'dash with symbols has no missing names'
fi

done_testing
