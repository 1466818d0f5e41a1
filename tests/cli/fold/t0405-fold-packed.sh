#!/bin/bash
# Traces that carry the names of their addresses: they fold the same when the program is removed or
# built again, with each option.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

cat >prog.cc <<'END'
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <string>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cstdio>
#define NOINLINE __attribute__((noinline))
static void *volatile kept[64];
static int n;
static inline __attribute__((always_inline)) void *cell(size_t size) { return malloc(size); }
NOINLINE void give(std::string name, size_t size) { kept[n++] = cell(size + name.empty()); }
#ifdef AGAIN
NOINLINE void shift(size_t size) { give("shift", size); kept[n++] = cell(3); }
#define first shift
#else
NOINLINE void first(size_t size) { give("first", size); kept[n++] = cell(3); }
#endif
static void handler(int) { kept[n++] = malloc(10); }
pthread_mutex_t the_lock = PTHREAD_MUTEX_INITIALIZER;
/* The lock is held until /proc says that the main thread waits for it, in futex. */
static std::atomic<int> held;
static void *holder(void *)
{
    char path[64], call[64] = "";

    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", getpid());
    pthread_mutex_lock(&the_lock);
    held = 1;
    while (strtol(call, 0, 10) != SYS_futex || !strchr(call, ' ')) {
        FILE *f = fopen(path, "r");
        if (!f || !fgets(call, sizeof call, f))
            call[0] = 0;
        if (f)
            fclose(f);
        usleep(1000);
    }
    usleep(20000);
    pthread_mutex_unlock(&the_lock);
    return 0;
}
/* Code that was made: "call *%rdi" with the argument in its place, in a map that names it. */
static void made(void)
{
    static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7,
                                         0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
    char *at = static_cast<char *>(mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    char name[64];
    FILE *f;

    memcpy(at, code, sizeof code);
    snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
    f = fopen(name, "w");
    fprintf(f, "%lx 40 LMade;compiled <it>\n", reinterpret_cast<unsigned long>(at));
    fclose(f);
    f = fopen("maps", "a");
    fprintf(f, "%s\n", name);
    fclose(f);
    kept[n++] = reinterpret_cast<void *(*)(void *(*)(size_t), size_t)>(at)(malloc, 77);
}
int main(int argc, char **)
{
    pthread_t t;

    first(100);
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    if (argc > 1)
        made();
    if (argc > 2) {
        pthread_create(&t, 0, holder, 0);
        while (!held)
            sched_yield();
        pthread_mutex_lock(&the_lock);
        pthread_join(t, 0);
    }
}
END
build() { # FLAG...
    "${CXX:-g++}" -O2 -g -pthread -fno-optimize-sibling-calls "$@" -o prog prog.cc || exit 1
}
forget_maps() {
    xargs rm -f <maps
    : >maps
}
trap 'case $BASHPID in "$tap_owner") forget_maps ;; esac; tap_cleanup' EXIT
each_way() { # TRACE TO: fold with each option
    local o
    for o in --lines --no-inline --no-demangle '--view=peak --lines --no-demangle' --tid ''; do
        # shellcheck disable=SC2086 # several options
        "$FLAME" fold $o "$1" >"$2$o" 2>"$2$o.err"
        cat "$2$o.err"
    done
}
same_ways() { # A B NAME
    local o
    for o in --lines --no-inline --no-demangle '--view=peak --lines --no-demangle' --tid ''; do
        ok "$3: fold $o" cmp "$1$o" "$2$o"
    done
}

touch maps

# ---- one trace, packed by hand ----

build
record '' ./prog made
cp t.flame plain.flame
each_way plain.flame plain. >said
is_str "$(cat said)" '' 'fold of an unpacked trace prints nothing'
file_has plain.--lines ';main prog.cc:[0-9]+;first\(unsigned long\) prog.cc:[0-9]+;give\(.*;cell prog.cc:[0-9]+_\[i\]' \
    'fold --lines has lines, parameters and inlined frames'
file_has plain. ';__restore_rt;handler\(int\) 10$' 'fold of an unpacked trace has a signal handler'
file_has plain. ';LMade:compiled <it>_\[j\] 77$' 'fold of an unpacked trace has generated code'
# A map from before the process began is that of another one with the same number.
xargs touch -r /bin/sh <maps
is_int "$("$FLAME" fold plain.flame | grep -c LMade)" 0 'fold of an unpacked trace takes no older map'
xargs touch <maps

run_expect_status 0 'flame pack succeeds' "$FLAME" pack t.flame
like "$(cat err)" '^flame: t.flame: names for [1-9][0-9]* of [1-9][0-9]* addresses in [0-9]+ files$' \
    'flame pack prints one line'
is_str "$(cat out)" '' 'flame pack prints nothing on standard output'
units() {
    "$FLAME" dump -s header "$1" | sed -n '1s/.* units=\([0-9]*\) .*/\1/p'
}
ok 'a packed trace is larger than before' test "$(units t.flame)" -gt "$(units plain.flame)"
ok 'a packed trace is smaller than twice the trace' test "$(units t.flame)" -lt $(($(units plain.flame) * 2))
is_int "$(wc -c <t.flame)" $(($(units t.flame) * 1024)) 'a packed trace has no reserved room'
each_way t.flame packed. >said
is_str "$(cat said)" '' 'fold of a packed trace prints nothing'
same_ways plain. packed. 'packed, with the program'
cp t.flame again.flame
ok 'flame pack of a packed trace succeeds' "$FLAME" pack -q again.flame
ok 'flame pack of a packed trace does not change it' cmp t.flame again.flame

mv prog prog.v1
forget_maps
each_way t.flame gone. >said
is_str "$(cat said)" '' 'fold of a packed trace without the program prints nothing'
same_ways plain. gone. 'packed, without the program'
run "$FLAME" fold plain.flame
file_has err 'not here any more' 'fold of an unpacked trace without the program says so'
file_has out ';\[prog\+0x' 'fold of an unpacked trace without the program has offsets'
run_expect_status 0 'flame pack without the program succeeds' "$FLAME" pack -o kept.flame t.flame
each_way kept.flame kept. >said
is_str "$(cat said)" '' 'fold of a trace packed again without the program prints nothing'
same_ways plain. kept. 'packed again without the program'
run_expect_status 0 'fold --lines of a packed trace from standard input succeeds' \
    "$FLAME" fold --lines - <t.flame
ok 'fold --lines of a packed trace from standard input is the same' cmp out plain.--lines
gzip -k t.flame
run_expect_status 0 'fold --lines of a compressed packed trace succeeds' "$FLAME" fold --lines t.flame.gz
ok 'fold --lines of a compressed packed trace is the same' cmp out plain.--lines
for out in x.svg x.html x.pb.gz x.speedscope.json; do
    ok "render of a packed trace succeeds: $out" "$FLAME" render -o "$out" t.flame
done
file_has x.svg 'first\(unsigned long\)' 'render of a packed trace has names'
run "$FLAME" top t.flame
file_has out 'give\(' 'top of a packed trace has names'
run_expect_status 0 'dump -s name succeeds' "$FLAME" dump -s name t.flame
file_has out '^name module=/.*/prog .*place=0x[0-9a-f]+ inlined=0 name=_Z5firstm path=.*/prog.cc line=[0-9]+$' \
    'dump -s name has lines'
file_has out '^name pid=[0-9]+ addr=0x[0-9a-f]+ name=LMade;compiled\\x20<it>$' 'dump -s name has generated code'
run "$FLAME" dump -j -s name t.flame
ok 'dump -s name as JSON has the names' \
    python3 -c 'import json,sys; d=json.load(open("out")); assert any(r.get("name")=="_Z5firstm" for r in d["name"])'

# ---- built again ----

build -DAGAIN
record '' ./prog made
forget_maps
each_way kept.flame rebuilt. >said
is_str "$(cat said)" '' 'fold of a packed trace after a rebuild prints nothing'
same_ways plain. rebuilt. 'packed, after a rebuild'
run_expect_status 0 "diff of two builds' packed traces succeeds" "$FLAME" diff kept.flame t.flame
file_has out ';first\(unsigned long\);give.* [1-9][0-9]* 0$' \
    "diff of two builds' packed traces has a removed function"
file_has out ';shift\(unsigned long\);give.* 0 [1-9][0-9]*$' \
    "diff of two builds' packed traces has a new function"
run_expect_status 0 "the gate of two builds' packed traces passes" \
    "$FLAME" diff --fail-above 1000% -o gate.folded kept.flame t.flame
file_has err '^flame: diff: compared [0-9]+ stacks: [0-9]+ before, [0-9]+ after' \
    "the gate of two builds' packed traces reports what it compared"
file_lacks gate.folded 'prog\+0x' "the gate of two builds' packed traces compares names"
run_expect_status 2 "diff of two builds' unpacked traces ends with status 2" "$FLAME" diff plain.flame t.flame
ok "fold of two builds' packed traces succeeds" "$FLAME" fold -o both.folded kept.flame t.flame
is_int "$(grep -c 'first(\|shift(' both.folded)" "$(cat plain. <("$FLAME" fold t.flame) | grep -c 'first(\|shift(')" \
    "fold of two builds' packed traces has the names of each"

# ---- packed by the recorders ----

build
run_expect_status 0 'flame mem -o x.flame' "$FLAME" mem -q -o mem.flame -- ./prog
run_expect_status 0 'flame mem --no-names' "$FLAME" mem -q --no-names -o bare.flame -- ./prog
run_expect_status 0 'flame off -o x.flame' "$FLAME" off -q -o off.flame -- ./prog made a_lock
run_expect_status 0 'flame run -o x.flame' "$FLAME" run -q -o run.flame -- ./prog made a_lock
run_expect_status 23 'flame leak -o x.flame' "$FLAME" leak -q --live -o leak.flame -- ./prog
run_expect_status 0 'flame mem of several programs succeeds' \
    "$FLAME" mem -q -o sh.flame -- sh -c './prog; ./prog; true'
"$FLAME" fold off.flame >off.before
"$FLAME" fold sh.flame sh.flame/2 sh.flame/3 >sh.before
rm -f prog
forget_maps
for t in mem.flame off.flame run.flame run.flame/2 leak.flame sh.flame/2; do
    run_expect_status 0 "fold of $t without the program succeeds" "$FLAME" fold $t
    is_str "$(cat err)" '' "fold of $t without the program prints nothing"
done
file_has off.before 'futex the_lock' 'a lock has its name'
ok 'a lock keeps its name without the program' cmp off.before <("$FLAME" fold off.flame)
ok 'several packed traces keep their names without the program' \
    cmp sh.before <("$FLAME" fold sh.flame sh.flame/2 sh.flame/3)
run "$FLAME" fold bare.flame
file_has err 'not here any more' '--no-names: the trace has no names'
mv prog.v1 prog
is_str "$(LD_PRELOAD=$SHIM FLAMEMEM_OPTIONS=out=$SCRATCH/named.flame ./prog && cd / && "$FLAME" pack "$SCRATCH/named.flame" 2>&1 | grep -c 'names for')" 1 \
    'flame pack of a recording by LD_PRELOAD adds names'

# ---- errors ----

refuses() { # REGEX NAME ARGUMENT...
    run_expect_status 2 "flame pack error, $2: status 2" "$FLAME" pack "${@:3}"
    like "$(cat err)" "$1" "flame pack error, $2: the message"
    is_int "$(wc -l <err)" 1 "flame pack error, $2: one line"
}
refuses 'no trace' 'nothing'
refuses 'cannot' 'no such file' ./missing.flame
refuses 'not a file' 'a directory' .
run_expect_status 0 'flame pack -o of memory and waiting succeeds' "$FLAME" pack -q -o both.flame mem.flame off.flame
ok 'a file of memory and waiting: the memory is read without a view' \
    cmp <("$FLAME" fold both.flame) <("$FLAME" fold mem.flame)
ok 'a file of memory and waiting has the views of waiting' \
    cmp <("$FLAME" fold --view off both.flame) <("$FLAME" fold off.flame)
echo 'main;f 3' >text.flame
refuses 'text.flame: ' 'folded text' text.flame
is_str "$(cat text.flame)" 'main;f 3' 'flame pack leaves folded text unchanged'
cp mem.flame one.flame
refuses 'text.flame: ' 'one of two' one.flame text.flame
ok 'flame pack with an error leaves the other trace unchanged' cmp mem.flame one.flame
run "$FLAME" pack -o /dev/full mem.flame
is_int "$status" 1 'flame pack on a full disk ends with status 1'
is_int "$(wc -l <err)" 1 'flame pack on a full disk prints one line'

# Damaged names: a string's number, and the version.
at=$(grep -obUaP 'FSEG\x01' mem.flame | tail -n 1 | cut -d : -f 1)
cp mem.flame broken.flame
printf '\x09' | dd of=broken.flame bs=1 seek=$((at + 72)) conv=notrunc 2>/dev/null
run_expect_status 2 'fold of damaged names ends with status 2' "$FLAME" fold broken.flame
file_has err '^flame: broken.flame: damaged at byte [0-9]+: the names of addresses make no sense' \
    'fold of damaged names says so'
is_int "$(wc -l <err)" 1 'fold of damaged names prints one line'

# A private trace, behind a symbolic link.
mkdir d
cp bare.flame d/own.flame
chmod 600 d/own.flame
ln -s d/own.flame link.flame
run_expect_status 0 'flame pack of a symbolic link succeeds' "$FLAME" pack link.flame
ok 'flame pack of a symbolic link keeps the link' test -h link.flame
is_str "$(stat -c %a d/own.flame)" 600 "flame pack of a symbolic link keeps the file's mode"
is_int "$("$FLAME" dump -s name d/own.flame | grep -c 'name=_Z4give')" \
    "$("$FLAME" dump -s name link.flame | grep -c 'name=_Z4give')" \
    'flame pack of a symbolic link adds names to its file'

# The program was missing at flame pack, and is back: no name is lost.
mv prog prog.away
cp bare.flame without.flame
ok 'flame pack of a trace without its program succeeds' "$FLAME" pack -q without.flame
mv prog.away prog
run_expect_status 0 'fold of a trace packed without its program, now back, succeeds' "$FLAME" fold without.flame
is_str "$(cat err)" '' 'fold of a trace packed without its program, now back, prints nothing'
file_has out ';first\(' 'fold of a trace packed without its program, now back, has names'
cp bare.flame with.flame
ok 'flame pack of a trace with its program succeeds' "$FLAME" pack -q with.flame
mv prog prog.away
run_expect_status 0 'fold of traces packed with and without the program succeeds' \
    "$FLAME" fold with.flame without.flame
is_str "$(cat err)" '' 'fold of traces packed with and without the program loses no name'
mv prog.away prog

# Moments beside a trace come into it once, and only its own.
"$FLAME" mem -q --no-names --moments=20ms -o m.flame -- ./prog made a_lock
moments() {
    "$FLAME" dump -s moment "$1" | grep -c '^moment us=\|^moment .*rss'
}
had=$(moments m.flame)
ok 'flame mem --moments has moments' test "$had" -gt 0
for i in 1 2; do
    ok 'flame pack of a trace with moments succeeds' "$FLAME" pack -q m.flame
    is_int "$(moments m.flame)" "$had" "a trace packed $i times has its moments once"
done

# During the recording, the file must not be replaced; a copy may be made.
LD_PRELOAD=$SHIM FLAMEMEM_OPTIONS=out=$SCRATCH/live.flame sleep 60 2>/dev/null &
pid=$!
until_true test -s live.flame
refuses 'live.flame: it may still be recorded' 'a live trace' live.flame
refuses 'live.flame: it may still be recorded' 'a copy over itself' -o ./live.flame live.flame
ok 'flame pack -o of a live trace succeeds' "$FLAME" pack -q -o copy.flame live.flame
ok 'flame pack -o of a live trace is readable' "$FLAME" dump -s name copy.flame
kill "$pid"
wait "$pid" 2>/dev/null
ok 'flame pack of an ended trace succeeds' "$FLAME" pack -q live.flame

done_testing
