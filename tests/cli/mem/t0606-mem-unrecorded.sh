#!/bin/bash
# Children that cannot be recorded behave as without flame, and the summary names them.
. "${0%/*}/../lib.sh"

export LC_ALL=C
compile_victim executes -ldl
here=$SCRATCH
loader=$(readelf -lW executes | sed -n 's/.*program interpreter: \(.*\)\].*/\1/p')

# A program for another C library: its loader has the name of musl's. Where flame has a recorder
# for that (t0147), this one has none beside it.
mkdir alone && cp "$SHIM" alone/
export SHIM=$SCRATCH/alone/libflamemem.so FLAME_MEM_SHIM=$SCRATCH/alone/libflamemem.so
ln -s "$loader" ld-musl-x86_64.so.1
compile_victim executes -ldl "-Wl,--dynamic-linker=$here/ld-musl-x86_64.so.1"
mv executes foreign
compile_victim executes -ldl

functions='execve execv execvp execvpe execl execlp execle fexecve execveat spawn spawnp vfork'
for how in $functions; do
    run_expect_status 7 "$how: a program that can be recorded ends with its status" "$FLAME" mem -o x.svg -- \
        ./executes "$how" "$here/executes" show
    file_has out "^LD_PRELOAD: $SHIM\$" "$how: a program that can be recorded has the recorder"
    file_lacks err 'not recorded' "$how: a program that can be recorded is not reported"
    run_expect_status 7 "$how: a program that cannot be recorded ends with its status" \
        "$FLAME" mem -o x.svg -- \
        ./executes "$how" "$here/foreign" show
    file_has out '^LD_PRELOAD: -$' "$how: a program that cannot be recorded lacks the recorder"
    file_has err 'not recorded: foreign \(uses musl\)$' "$how: a program that cannot be recorded is named"
    run env -u LD_PRELOAD ./executes "$how" "$here/foreign" show
    want=$(cat out)
    run env LD_PRELOAD=libm.so.6 "$FLAME" mem -q -o x.svg -- ./executes "$how" "$here/foreign" show
    is_str "$(cat out)" "${want/LD_PRELOAD: -/LD_PRELOAD: libm.so.6}" \
        "$how: a program that cannot be recorded has its environment and arguments"
done
for how in system popen; do
    run_expect_status 7 "$how: a program that cannot be recorded ends with its status" \
        "$FLAME" mem -o x.svg -- \
        ./executes "$how" ./foreign show
    file_has out '^LD_PRELOAD: -$' "$how: a program that cannot be recorded lacks the recorder"
    file_has err ', 2 processes( of 3)?, ' "$how: the shell is recorded"
    file_has err 'not recorded: foreign \(uses musl\)$' "$how: a program that cannot be recorded is named"
done

run_expect_status 7 'a spawned process that cannot be recorded ends with its status' \
    "$FLAME" mem -o x.svg -- ./executes spawn ./foreign show
file_has err ', 1 process of 2, ' 'a spawned process that cannot be recorded is counted'

echo 'no program' >text && chmod +x text
printf '#!/no/such/interpreter\n' >orphan && chmod +x orphan
echo x >plain
./executes errors >want
run_expect_status 0 'exec calls that fail: the program ends with status 0' \
    "$FLAME" mem -o x.svg -- ./executes errors
is_str "$(cat out)" "$(cat want)" 'exec calls that fail have their errors as unrecorded'
file_lacks err 'not recorded' 'exec calls that fail are not reported as unrecorded programs'

# The entry on an exec of a program that cannot be recorded is removed when the exec fails.
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
ok 'toolong is built' "${CC:-gcc}" -o toolong toolong.c
run_expect_status 0 'an exec that fails after its check: the program ends with status 0' \
    "$FLAME" mem -o x.svg -- ./toolong
file_lacks err 'not recorded' 'an exec that fails after its check is not reported as an unrecorded program'

# An environment of more entries than most have, and a long list.
many=()
for i in $(seq 1200); do many+=("VARIABLE_$i=$i"); done
long=$(printf 'libm.so.6:%.0s' $(seq 200))
run_expect_status 7 'a child with a large environment ends with its status' \
    env "${many[@]}" LD_PRELOAD="$long" "$FLAME" mem -o x.svg \
    -- ./executes spawn ./foreign show
file_has out "^LD_PRELOAD: ${long%:}\$" 'a child with a large environment keeps all but the recorder'

run "$FLAME" mem -o x.svg -- env -i ./executes show
file_has out '^LD_PRELOAD: -$' 'a cleared environment stays cleared'
file_has err 'executes \(started with an environment without the recorder\)' \
    'a program with a cleared environment is named'
mkdir cwd
run sh -c 'cd cwd && exec "$FLAME" mem -o ../x.svg -- env -u FLAMEMEM_OPTIONS ../executes show'
file_has out '^LD_PRELOAD: -$' 'a child without FLAMEMEM_OPTIONS lacks the recorder'
is_str "$(ls cwd)" '' 'a child without FLAMEMEM_OPTIONS writes no trace into the current directory'

run "$FLAME" mem --no-follow -o x.svg -- ./executes spawn ./foreign show
file_lacks err 'not recorded' 'flame mem --no-follow reports no unrecorded child'

printf '#!%s/foreign show\n' "$here" >script && chmod +x script
run_expect_status 7 'a script with an interpreter that cannot be recorded ends with its status' \
    "$FLAME" mem -o x.svg -- \
    ./executes spawnp ./script
file_has err 'not recorded: script \(uses musl\)$' \
    'a script with an interpreter that cannot be recorded is named'

printf 'int main(void) { return 7; }\n' >seven.c
if "${CC:-gcc}" -static -o static seven.c 2>/dev/null; then
    run_expect_status 7 'a static child ends with its status' \
        "$FLAME" mem -o x.svg -- sh -c './static; ./static; ./static'
    file_has err 'not recorded: static \(linked statically\) 3 times$' \
        'three runs of a static child are counted'
fi
if "${CC:-gcc}" -fsanitize=address -o guarded seven.c 2>/dev/null; then
    run_expect_status 7 'a child with a sanitizer ends with its status' \
        "$FLAME" mem -o x.svg -- sh -c './guarded'
    file_lacks err 'runtime' 'a child with a sanitizer prints no error'
    file_has err 'not recorded: guarded \(built with a sanitizer\)$' 'a child with a sanitizer is named'
fi
if musl-gcc -o musl seven.c 2>/dev/null; then
    run_expect_status 7 'a musl child ends with its status' "$FLAME" mem -o x.svg -- sh -c './musl; exit $?'
    is_str "$(grep -c musl err)" 1 'a musl child is named once and prints no error'
fi
cat >narrow.c <<'EOF'
void _start(void) { __asm__ volatile("int $0x80" : : "a"(1), "b"(7)); }
EOF
if "${CC:-gcc}" -m32 -nostdlib -static -o narrow narrow.c 2>/dev/null && { ./narrow; [ $? -eq 7 ]; }; then
    run_expect_status 7 'a 32-bit child ends with its status' "$FLAME" mem -o x.svg -- ./executes spawn ./narrow
    file_has err 'not recorded: narrow \(of another word size or processor\)$' 'a 32-bit child is named'
fi

if [ "$(id -u)" -eq 0 ]; then
    chmod 755 .
    cp executes other && chown 65534 other && chmod u+s other
    run_expect_status 7 'a set-user-id child ends with its status' \
        "$FLAME" mem -o x.svg -- ./executes spawn ./other show
    file_has err 'not recorded: other \(set-user-id\)$' 'a set-user-id child is named'
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
    ok 'becomes is built' "${CC:-gcc}" -fno-builtin -o becomes becomes.c
    run_expect_status 7 'a forked child of another user ends with its status' \
        "$FLAME" mem -o x.svg -- ./becomes user .
    file_has err 'not recorded: becomes \(another user' 'a forked child of another user is named'
    is_int "$(grep -c libflamemem err)" 0 'a forked child of another user prints no line of the recorder'
    run_expect_status 7 'a program that a child of another user executes ends with its status' \
        "$FLAME" mem -o x.svg -- ./becomes user . "$PWD/executes" show
    file_has out '^LD_PRELOAD: -$' 'a program that a child of another user executes lacks the recorder'
    mkdir root
    run_expect_status 7 'a forked child in another root ends with its status' \
        "$FLAME" mem -o x.svg -- ./becomes root "$PWD/root"
    file_has err 'not recorded: becomes \(in another root directory\)' 'a forked child in another root is named'
    is_int "$(grep -c libflamemem err)" 0 'a forked child in another root prints no line of the recorder'
fi

mkdir covered
if unshare -m true 2>err; then
    run_expect_status 7 "a child under a mount over the recording's directory ends with its status" \
        env TMPDIR="$PWD/covered" \
        "$FLAME" mem -o x.svg -- unshare -m bash -c \
        'mount -t tmpfs none "$1" && exec ./executes show; exit 8' bash "$PWD/covered"
    file_has err 'not recorded: executes \(a mount covers where the recording is\)' \
        "a child under a mount over the recording's directory is named"
else
    skip not-root "not root: no mount can be made: $(head -n 1 err)"
fi

run "$FLAME" leak -o x.svg -- ./executes spawn ./foreign show
file_has err 'not recorded: foreign \(uses musl\)$' 'flame leak names a child that it did not check'
done_testing
