#!/bin/bash
# Programs of two C libraries in one run: flame in a folder whose name LD_PRELOAD
# cannot contain, and programs executed without the C library's exec functions.
. "${0%/*}/../lib.sh"

type musl-gcc >/dev/null 2>&1 || skip_all musl 'there is no musl-gcc'
CC=musl-gcc compile_victim eachcall -pthread
mv eachcall each
compile_victim eachcall -pthread

# ---- blanks in flame's own path ----

mkdir -p 'a b:c/musl'
cp "$FLAME" "${SHIM%/*}"/libflame*.so 'a b:c/'
cp "$BUILD/musl/libflamemem.so" 'a b:c/musl/'

# in_all N WHAT COMMAND...: the command's N processes are all recorded.
in_all() {
    local n=$1 what=$2
    shift 2
    run_expect_status 0 "flame $kind with blanks in its path, $what: it succeeds" \
        'a b:c/flame' "$kind" -o x.folded -- "$@"
    file_has err ", $n processes, " "flame $kind with blanks in its path, $what: all processes are recorded"
    unlike "$(cat err)" 'not recorded|cannot be preloaded' \
        "flame $kind with blanks in its path, $what: each process has a recorder"
}
for kind in mem run; do
    in_all 3 'a shell of the GNU C library, and musl in it' sh -c './each >told; exit $?'
    in_all 4 'from musl to the GNU C library and back' ./each ./eachcall ./each
done

# ---- execve by its number ----

cat >raw.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv)
{
    const char *path = argc > 2 ? argv[2] : "";
    char **rest = argv + 2;
    if (argv[1][0] == 'e')
        syscall(SYS_execve, path, rest, environ);
    else if (argv[1][0] == 'a')
        syscall(SYS_execveat, AT_FDCWD, path, rest, environ, 0);
    else
        syscall(SYS_execveat, open(path, O_RDONLY), "", rest, environ, AT_EMPTY_PATH);
    printf("%d\n", errno == ENOENT);
    return 7;
}
C
musl-gcc -o rawmusl raw.c
"${CC:-gcc}" -o rawgnu raw.c
for how in execve at file; do
    for way in './rawmusl ./eachcall' './rawgnu ./each' './rawmusl ./each'; do
        run_expect_status 0 "execve by number, $how: $way succeeds" \
            "$FLAME" mem -o x.folded -- "${way% *}" "$how" "${way#* }"
        file_has err ', 2 processes, ' "execve by number, $how: $way and its child are recorded"
    done
done
run_expect_status 7 "a raw execve that fails ends with the program's status" \
    "$FLAME" mem -q -o x.folded -- ./rawmusl execve ./nowhere
is_str "$(cat out)" 1 'a raw execve that fails returns the same value and errno'
done_testing
