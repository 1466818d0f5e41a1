#!/bin/bash
# flame fold: names from every place that may hold them, and from none it must not.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
# The C library's own functions have names here.
unset FLAME_DEBUG_DIRS

cat >prog.c <<'END'
#include <stdlib.h>
void *volatile keep;
/* One that everybody can call, and after it one that only symbols can name. */
__attribute__((noinline)) void exported(int n) { keep = malloc(n); __asm__ volatile(""); }
__attribute__((noinline)) static void hidden(int n) { keep = malloc(n); __asm__ volatile(""); exported(n); __asm__ volatile(""); }
int main(void) { hidden(100); __asm__ volatile(""); return 0; }
END
ok 'a program is built' gcc -O1 -rdynamic -Wl,--build-id=sha1 -o full prog.c

# Each case is a file of its own in a directory of its own, run from there, so
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
is_str "$(stacks t.flame)" "$named" 'symbols in the file'

strip -s -o stripped full
name_case stripped stripped
record '' in-stripped/prog
like "$(stacks t.flame | head -n 1)" '^main;\[prog\+0x[0-9a-f]+\]$' \
    'stripped: dynamic symbols, and none for what they do not cover'
like "$(stacks t.flame | tail -n 1)" ';exported$' 'those that can be called have names'
offset=$(stacks t.flame | sed -n '1s/.*+\(0x[0-9a-f]*\)\]$/\1/p')
like "$(addr2line -f -e full "$(printf '0x%x' $((offset - 1)))" | head -n 1)" '^hidden$' \
    'and the offset leads to the function'
cp t.flame stripped.flame

# ---- separate debug files ----

objcopy --only-keep-debug full prog.debug
id=$(readelf -n full | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/${id:0:2}" "wrong/.build-id/${id:0:2}"
cp prog.debug "debug/.build-id/${id:0:2}/${id:2}.debug"
is_str "$(stacks --debug-dir debug stripped.flame)" "$named" 'a debug file by build-id'
is_str "$(FLAME_DEBUG_DIRS=/nowhere:$PWD/debug stacks stripped.flame)" "$named" \
    'from a directory in FLAME_DEBUG_DIRS'
sed 's/100/101/' prog.c >other.c
gcc -O1 -rdynamic -Wl,--build-id=sha1 -o other other.c
objcopy --only-keep-debug other "wrong/.build-id/${id:0:2}/${id:2}.debug"
like "$(stacks --debug-dir wrong stripped.flame | head -n 1)" '\+0x' 'one of another program is not used'
is_str "$(stacks --debug-dir wrong --debug-dir debug stripped.flame)" "$named" 'the next is tried'

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
    is_str "$(stacks --debug-dir tree t.flame)" "$named" "a debug file by link: $place"
    echo changed >>"$to/noid.debug"
    like "$(stacks --debug-dir tree t.flame | head -n 1)" '\+0x' "$place: refused when its checksum differs"
done

# ---- packed symbols ----

if command -v xz >/dev/null; then
    objcopy -S --strip-unneeded prog.debug mini 2>/dev/null || cp prog.debug mini
    xz -k --stdout prog.debug >mini.xz
    objcopy --add-section .gnu_debugdata=mini.xz stripped packed
    name_case packed packed
    record '' in-packed/prog
    is_str "$(stacks t.flame)" "$named" 'symbols in .gnu_debugdata'
    head -c 200 mini.xz >cut.xz
    objcopy --add-section .gnu_debugdata=cut.xz stripped spoiled
    name_case spoiled spoiled
    record '' in-spoiled/prog
    like "$(stacks t.flame | head -n 1)" '\+0x' 'spoiled, they are left'
else
    skip xz 'no xz to pack with'
fi

# ---- the file is another one by now ----

name_case changing
record '' in-changing/prog
cp other in-changing/prog
like "$(stacks t.flame | head -n 1)" '^\[prog\+0x[0-9a-f]+\];\[prog' 'a program built again gives no names'
like "$(cat fold.err)" '^flame: .*/in-changing/prog: not the file that was recorded' 'and that is said'
is_int "$(grep -c 'not the file' fold.err)" 1 'once'
is_str "$(stacks --debug-dir debug t.flame)" "$named" 'its old debug file still names everything'
is_str "$(cat fold.err)" '' 'without a word then'
rm in-changing/prog
like "$(stacks t.flame | head -n 1)" '^\[prog\+0x[0-9a-f]+\];\[prog' 'a program that is gone gives no names'
is_str "$(stacks --debug-dir debug t.flame)" "$named" 'but for its debug file'

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
ok 'a program with a handler is built' gcc -O1 -o sig sig.c
record '' ./sig
like "$("$FLAME" fold --no-inline t.flame)" ';main;.*raise.*;__restore_rt;handler 10$' \
    'through the signal frame to whoever was interrupted'

# Where most places in the code have no name, one line says so, and where names can be had.
{
    echo '#include <stdlib.h>'
    for i in $(seq 80); do
        echo "__attribute__((noinline)) void f$i(void) { void *volatile p = malloc($i); (void)p; }"
    done
    echo 'int main(void) {'
    seq -f 'f%g();' 80
    echo 'return 0; }'
} >places.c
ok 'a program of many places is built' "${CC:-gcc}" -g -O1 -o places places.c
strip -o bare places
run_expect_status 0 'a stripped program' "$FLAME" mem -o bare.folded -- ./bare
like "$(grep 'have no name' err)" \
    '^flame: [0-9]+ of [0-9]+ places in the code have no name and show as offsets, [0-9]+ of them in .*/bare; it was stripped: ' \
    'of one that is stripped it is said'
run_expect_status 0 'quietly' "$FLAME" mem -q -o bare.folded -- ./bare
file_lacks err 'have no name' 'but not with -q'
run_expect_status 0 'and one that is not' "$FLAME" mem -o whole.folded -- ./places
file_lacks err 'have no name' 'has all names'
run_expect_status 0 'a shell that does little' "$FLAME" mem -o little.folded -- dash -c 'echo a'
file_lacks err 'have no name' 'is not worth it'
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
run_expect_status 0 'a program of Debian' "$FLAME" mem -q -o dash.flame -- dash much.sh
run_expect_status 0 'folded' "$FLAME" fold dash.flame
if grep -q '\[dash+0x' out; then
    file_has err '^flame: [0-9]+ of [0-9]+ places .* of them in (/usr)?/bin/dash; Debian has its symbols in the package dash-dbgsym$' \
        'and in which package its symbols are'
else
    file_lacks err 'have no name' 'which has its symbols here'
fi

done_testing
