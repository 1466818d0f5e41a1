#!/bin/bash
# Children that cannot be recorded run as they would, and the summary names them.
. "${0%/*}/../lib.sh"

export LC_ALL=C
compile_victim executes -ldl
here=$SCRATCH
loader=$(readelf -lW executes | sed -n 's/.*program interpreter: \(.*\)\].*/\1/p')

# A program for another C library: its loader is called as musl's is. Where flame has a recorder
# for that (t0147), this one has none beside it.
mkdir alone && cp "$SHIM" alone/
export SHIM=$SCRATCH/alone/libflamemem.so FLAME_MEM_SHIM=$SCRATCH/alone/libflamemem.so
ln -s "$loader" ld-musl-x86_64.so.1
compile_victim executes -ldl "-Wl,--dynamic-linker=$here/ld-musl-x86_64.so.1"
mv executes foreign
compile_victim executes -ldl

functions='execve execv execvp execvpe execl execlp execle fexecve execveat spawn spawnp vfork'
for how in $functions; do
    run_expect_status 7 "$how: a program that can be recorded" "$FLAME" mem -o x.svg -- \
        ./executes "$how" "$here/executes" show
    file_has out "^LD_PRELOAD: $SHIM\$" "$how: has the recorder"
    file_lacks err 'not recorded' "$how: nothing is missing"
    run_expect_status 7 "$how: one that cannot" "$FLAME" mem -o x.svg -- \
        ./executes "$how" "$here/foreign" show
    file_has out '^LD_PRELOAD: -$' "$how: does not have it"
    file_has err 'not recorded: foreign \(uses musl\)$' "$how: and is named"
    run env -u LD_PRELOAD ./executes "$how" "$here/foreign" show
    want=$(cat out)
    run env LD_PRELOAD=libm.so.6 "$FLAME" mem -q -o x.svg -- ./executes "$how" "$here/foreign" show
    is_str "$(cat out)" "${want/LD_PRELOAD: -/LD_PRELOAD: libm.so.6}" \
        "$how: the rest of its environment and arguments are its own"
done
for how in system popen; do
    run_expect_status 7 "$how: through the shell" "$FLAME" mem -o x.svg -- \
        ./executes "$how" ./foreign show
    file_has out '^LD_PRELOAD: -$' "$how: the shell decides"
    file_has err ', 2 processes( of 3)?, ' "$how: the shell is recorded"
    file_has err 'not recorded: foreign \(uses musl\)$' "$how: and what it executes is named"
done

run_expect_status 7 'a process of its own' "$FLAME" mem -o x.svg -- ./executes spawn ./foreign show
file_has err ', 1 process of 2, ' 'is counted'

echo 'no program' >text && chmod +x text
printf '#!/no/such/interpreter\n' >orphan && chmod +x orphan
echo x >plain
./executes errors >want
run_expect_status 0 'calls that fail' "$FLAME" mem -o x.svg -- ./executes errors
is_str "$(cat out)" "$(cat want)" 'fail as they would'
file_lacks err 'not recorded' 'and leave no note'

# The note on an exec of a program that cannot be recorded is taken back when the exec fails.
cat >toolong.c <<'EOF'
#include <string.h>
#include <unistd.h>
static char big[200000], *argv[40];
int main(void)
{
    memset(big, 'x', sizeof big - 1);
    for (int i = 0; i < 39; i++)
        argv[i] = big;
    return execv("./foreign", argv) == -1 ? 0 : 1;
}
EOF
ok 'built' "${CC:-gcc}" -o toolong toolong.c
run_expect_status 0 'an exec that fails after it was judged' "$FLAME" mem -o x.svg -- ./toolong
file_lacks err 'not recorded' 'leaves no note'

# An environment of more entries than most have, and a long list.
many=()
for i in $(seq 1200); do many+=("VARIABLE_$i=$i"); done
long=$(printf 'libm.so.6:%.0s' $(seq 200))
run_expect_status 7 'a large environment' env "${many[@]}" LD_PRELOAD="$long" "$FLAME" mem -o x.svg \
    -- ./executes spawn ./foreign show
file_has out "^LD_PRELOAD: ${long%:}\$" 'keeps all but the recorder'

run "$FLAME" mem -o x.svg -- env -i ./executes show
file_has out '^LD_PRELOAD: -$' 'a cleared environment stays cleared'
file_has err 'executes \(started with an environment without the recorder\)' 'and is named'
mkdir cwd
run sh -c 'cd cwd && exec "$FLAME" mem -o ../x.svg -- env -u FLAMEMEM_OPTIONS ../executes show'
file_has out '^LD_PRELOAD: -$' 'without its options the recorder is of no use'
is_str "$(ls cwd)" '' 'and writes no trace into the present directory'

run "$FLAME" mem --no-follow -o x.svg -- ./executes spawn ./foreign show
file_lacks err 'not recorded' 'nobody is missed under --no-follow'

printf '#!%s/foreign show\n' "$here" >script && chmod +x script
run_expect_status 7 'a script is judged by its interpreter' "$FLAME" mem -o x.svg -- \
    ./executes spawnp ./script
file_has err 'not recorded: script \(uses musl\)$' 'and named'

printf 'int main(void) { return 7; }\n' >seven.c
if "${CC:-gcc}" -static -o static seven.c 2>/dev/null; then
    run_expect_status 7 'a static child' "$FLAME" mem -o x.svg -- sh -c './static; ./static; ./static'
    file_has err 'not recorded: static \(linked statically\) 3 times$' 'is counted'
fi
if "${CC:-gcc}" -fsanitize=address -o guarded seven.c 2>/dev/null; then
    run_expect_status 7 'a child with a sanitizer runs' "$FLAME" mem -o x.svg -- sh -c './guarded'
    file_lacks err 'runtime' 'and does not complain'
    file_has err 'not recorded: guarded \(built with a sanitizer\)$' 'and is named'
fi
if musl-gcc -o musl seven.c 2>/dev/null; then
    run_expect_status 7 'a musl child runs' "$FLAME" mem -o x.svg -- sh -c './musl; exit $?'
    is_str "$(grep -c musl err)" 1 'and is named once, not complained of'
fi
cat >narrow.c <<'EOF'
void _start(void) { __asm__ volatile("int $0x80" : : "a"(1), "b"(7)); }
EOF
if "${CC:-gcc}" -m32 -nostdlib -static -o narrow narrow.c 2>/dev/null && { ./narrow; [ $? -eq 7 ]; }; then
    run_expect_status 7 'a 32-bit child runs' "$FLAME" mem -o x.svg -- ./executes spawn ./narrow
    file_has err 'not recorded: narrow \(of another word size or processor\)$' 'and is named'
fi

if [ "$(id -u)" -eq 0 ]; then
    chmod 755 .
    cp executes other && chown 65534 other && chmod u+s other
    run_expect_status 7 'a set-user-id child runs' "$FLAME" mem -o x.svg -- ./executes spawn ./other show
    file_has err 'not recorded: other \(set-user-id\)$' 'and is named'
    cat >becomes.c <<'EOF'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int status = 9;
    if (fork() == 0) {
        if (argv[1][0] == 'r' ? chroot(argv[2]) : setgid(65534) || setuid(65534))
            _exit(9);
        free(malloc(100));
        if (argc > 3)
            execv(argv[3], argv + 3);
        _exit(7);
    }
    wait(&status);
    return WEXITSTATUS(status);
}
EOF
    ok 'built' "${CC:-gcc}" -fno-builtin -o becomes becomes.c
    run_expect_status 7 'a forked child of another user' "$FLAME" mem -o x.svg -- ./becomes user .
    file_has err 'not recorded: becomes \(another user' 'is named'
    is_int "$(grep -c libflamemem err)" 0 'and says nothing itself'
    run_expect_status 7 'what it executes' "$FLAME" mem -o x.svg -- ./becomes user . "$PWD/executes" show
    file_has out '^LD_PRELOAD: -$' 'goes without the recorder'
    mkdir root
    run_expect_status 7 'a forked child in another root' "$FLAME" mem -o x.svg -- ./becomes root "$PWD/root"
    file_has err 'not recorded: becomes \(in another root directory\)' 'is named'
    is_int "$(grep -c libflamemem err)" 0 'and says nothing itself'
fi

mkdir covered
if unshare -m true 2>err; then
    run_expect_status 7 'where a mount covers the directory of the recording' env TMPDIR="$PWD/covered" \
        "$FLAME" mem -o x.svg -- unshare -m bash -c \
        'mount -t tmpfs none "$1" && exec ./executes show; exit 8' bash "$PWD/covered"
    file_has err 'not recorded: executes \(a mount covers where the recording is\)' 'what is executed is named as that'
else
    skip not-root "not root: no mount can be made: $(head -n 1 err)"
fi

run "$FLAME" leak -o x.svg -- ./executes spawn ./foreign show
file_has err 'not recorded: foreign \(uses musl\)$' 'the leak gate says what it did not look at'
done_testing
