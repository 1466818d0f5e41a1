#!/bin/bash
# Programs that use musl have a recorder of their own: exact to the byte, in threads
# and forked children, whatever executes them; and the messages where it is missing.
. "${0%/*}/../lib.sh"

type musl-gcc >/dev/null 2>&1 || skip_all musl 'there is no musl-gcc'
musl=$BUILD/musl/libflamemem.so
ok 'the recorder for musl is built' test -r "$musl"

# ---- exports and imports ----

nm -D --defined-only "$SHIM" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u >gnu
nm -D --defined-only "$musl" | awk '{ print $3 }' | sort -u >exported
is_str "$(grep -vxE 'system|popen|wordexp' exported)" "$(cat gnu)" \
    'the musl recorder exports what the GNU one does'
is_int "$(grep -cxE 'system|popen|wordexp' exported)" 3 \
    'the musl recorder exports the functions with which musl runs the shell'
unlike "$(nm -D --undefined-only "$musl" | awk '{ print $NF }')" \
    '^(syscall|prctl|open(at)?|read|write|close|f?stat(at)?|mmap|munmap|mremap|madvise|kill|sigaction|ioctl)$' \
    "the musl recorder's system calls go through its gate"
is_str "$(readelf -dW "$musl" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')" 'libc.so' \
    'the musl recorder needs only musl'
is_str "$(objdump -d --no-show-raw-insn "$musl" | awk '
    /^[0-9a-f]+ </ { name = $2; hook = name ~ /^<(malloc|calloc|realloc|reallocarray|posix_memalign|aligned_alloc|memalign|valloc|pvalloc)>/ }
    hook && $2 ~ /^(jmp|b)$/ && $NF ~ /^<[a-z_0-9.]+>$/ && $NF !~ /cold|arena/ { print name, $NF }')" '' \
    'no hook of the musl recorder ends by a tail call'

# ---- exact counts ----

CC=musl-gcc compile_victim eachcall -pthread
mv eachcall each
compile_victim eachcall -pthread

# told COLUMN: the program's own count of each function, summed over all processes.
told() {
    column=$1 awk '{ n[$1] += $ENVIRON["column"] } END { for (f in n) if (n[f]) printf "%s %.0f\n", f, n[f] }' out | sort
}

# recorded: the same counts of x.folded, by the innermost frame.
recorded() {
    sed -n 's/.*;\(by_[a-z_]*\) \([0-9]*\)$/\1 \2/p' x.folded |
        awk '{ n[$1] += $2 } END { for (f in n) printf "%s %.0f\n", f, n[f] }' | sort
}

exact() {
    local view=$1 column=$2 name=$3
    shift 3
    run_expect_status 0 "$name: flame mem --view $view succeeds" "$FLAME" mem --view "$view" -o x.folded -- "$@"
    is_str "$(recorded)" "$(told "$column")" "$name: --view $view is exact to the byte"
    unlike "$(cat err)" 'not recorded|libflamemem:|cut short|libunwind' "$name: flame reports no loss"
}

exact alloc 2 'a musl program' ./each
is_int "$(grep -c ';by_' x.folded)" "$(grep -cE ';(main;)?work;by_' x.folded)" \
    'each stack of a musl program has its callers'
like "$(grep -c 'main;work;by_' x.folded)" '^[1-9]' "stacks of a musl program's first thread reach main"
exact live 3 'a musl program' ./each

# ---- all ways to execute it ----

exact alloc 2 'a musl program that a GNU shell executes' sh -c './each; exit $?'
exact alloc 2 'a musl program that executes itself' ./each ./each
exact alloc 2 'a musl program that executes a GNU one, which executes a musl one' \
    ./each ./eachcall ./each
file_has err ', 4 processes, ' 'a musl and a GNU program in turn are one process, with a child each'

# LD_PRELOAD keeps another library that suits both C libraries, and the order.
printf 'int other;\n' >other.c
"${CC:-gcc}" -shared -fPIC -nostdlib -o libother.so other.c
run env LD_PRELOAD="$SCRATCH/libother.so" "$FLAME" mem -q -o x.folded -- ./each sh -c 'echo "$LD_PRELOAD"'
is_str "$(tail -n 1 out)" "$SHIM:$SCRATCH/libother.so" \
    'the GNU recorder replaces the musl one in LD_PRELOAD, in its place'

# ---- leaks ----

cat >loses.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
void *volatile kept;
static __thread void *volatile own;
static pthread_barrier_t both;
__attribute__((noinline)) static void *make(size_t n)
{
    void *p = malloc(n);
    __asm__ volatile("" : : "r"(p) : "memory");
    return p;
}
__attribute__((noinline)) static void lose(void)
{
    for (int i = 0; i < 3; i++)
        make(111);
}
__attribute__((noinline)) static void clear(void)
{
    char junk[4096];
    memset(junk, 0, sizeof junk);
    __asm__ volatile("" : : "r"(junk) : "memory");
}
static void *run(void *arg)
{
    void *volatile mine = make(55);
    own = make(66);
    pthread_barrier_wait(&both);
    pause();
    return mine ? arg : NULL;
}
int main(void)
{
    pthread_key_t key;
    pthread_t t;
    kept = make(1000);
    pthread_barrier_init(&both, NULL, 2);
    pthread_key_create(&key, NULL);
    pthread_setspecific(key, make(77));
    pthread_create(&t, NULL, run, NULL);
    pthread_barrier_wait(&both);
    lose();
    clear();
    return 0;
}
END
musl-gcc -g -O1 -pthread -fno-optimize-sibling-calls -o loses loses.c
printf '#!%s/loses\n' "$SCRATCH" >script && chmod +x script
run_expect_status 0 'flame mem of a script with a musl interpreter succeeds' "$FLAME" mem -o x.svg -- ./script
file_has err ' 1,531 bytes in 7 calls$' 'a script with a musl interpreter is recorded'
run_expect_status 23 'flame leak of a musl program ends with status 23' "$FLAME" leak -o x.svg -- ./loses
file_has err '^flame: leak: 333 bytes in 3 blocks leaked, 0 allowed' \
    "flame leak of a musl program: data, stacks, keys and a thread's TLS are roots"

# ---- without a recorder for musl ----

mkdir alone && cp "$FLAME" "$SHIM" "${SHIM%/*}/libflamegate.so" "${SHIM%/*}/libflamewait.so" alone/
run_expect_status 2 'flame mem of a musl program without its recorder ends with status 2' \
    alone/flame mem -o y.svg -- ./each
is_str "$(cat err)" "flame: ./each: uses musl, and beside libflamemem.so there is no recorder for it, as flame was built without musl-gcc; install musl-tools and build flame again, or build the program against glibc" \
    'flame mem of a musl program without its recorder prints one line'
ok 'flame mem of a musl program without its recorder writes no file' test ! -e y.svg
run_expect_status 0 'flame mem of a musl child without its recorder succeeds' \
    alone/flame mem -o y.folded -- sh -c './each >told; true'
file_has err 'not recorded: each \(uses musl\)$' 'the summary names a musl child without its recorder'
is_int "$(wc -l <told)" 12 'a musl child without its recorder behaves as unrecorded'
FLAME_MEM_SHIM=$musl run_expect_status 2 'the musl recorder with a GNU program ends with status 2' \
    "$FLAME" mem -o y.svg -- ./eachcall
is_str "$(cat err)" "flame: ./eachcall: uses the GNU C library, and $musl is for musl; unset FLAME_MEM_SHIM" \
    'the musl recorder with a GNU program says why'

cp "$musl" alone/libflamemem.so
FLAME_MEM_SHIM=$SCRATCH/alone/libflamemem.so run_expect_status 0 'the musl recorder alone, with a musl program, succeeds' \
    "$FLAME" mem -o y.folded -- ./each ./eachcall
file_has err 'not recorded: eachcall \(uses the GNU C library\)$' \
    'the summary names a GNU child without its recorder'
is_int "$(wc -l <out)" 24 'a GNU child without its recorder behaves as unrecorded'

# ---- waits, by stops ----

cp "$ROOT/tests/victims/off/nap.c" .
musl-gcc -g -O1 -o nap nap.c
musl-gcc -g -O1 -static -o still nap.c
for program in nap still; do
    run_expect_status 0 "flame off of the musl program $program succeeds" "$FLAME" off -o w.folded -- ./$program
    like "$(grep -cE 'nap|sleep' w.folded)" '^[1-9]' "flame off of the musl program $program has its sleep"
done


# ---- the shell, which may use the other C library ----

cat >shells.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <wordexp.h>
int main(void)
{
    char line[64] = "";
    wordexp_t words = {0};
    FILE *f = popen("echo from popen", "r");
    if (f && fgets(line, sizeof line, f))
        printf("%s%d\n", line, pclose(f));
    printf("%d\n", system("exit 3"));
    printf("%d %s\n", wordexp("$(echo word)", &words, 0), words.we_wordc ? words.we_wordv[0] : "");
    printf("%s\n", getenv("LD_PRELOAD") ? "recorded" : "alone");
    return 0;
}
C
musl-gcc -o shells shells.c
run_expect_status 0 'flame mem of system, popen and wordexp of musl succeeds' \
    "$FLAME" mem -q -o x.folded -- ./shells
is_str "$(cat out)" "$(./shells | sed 's,^alone,recorded,')" \
    'system, popen and wordexp of musl behave as unrecorded'
is_str "$(cat err)" '' 'system, popen and wordexp of musl print no loader error'
ok "the shell of musl's system is recorded" grep -q '^sh;' x.folded
done_testing
