#!/bin/bash
# 32-bit programs are not recorded: each command of
# flame refuses them with the reason; a child runs and is named.
. "${0%/*}/../lib.sh"

cat >seven.c <<'END'
void _start(void)
{
    __asm__ volatile("int $0x80" : : "a"(1), "b"(7));
}
END
# The check reads only the program's file, so its libraries do not matter: no 32-bit library is
# needed.
freestanding='-m32 -nostdlib -ffreestanding -fno-stack-protector'
# shellcheck disable=SC2086 # a list of options
if ! "${CC:-gcc}" $freestanding -static -fno-pic -no-pie -o narrow seven.c 2>cc.err ||
    ! "${CC:-gcc}" $freestanding -fpie -pie -Wl,--dynamic-linker=/lib/ld-linux.so.2 -o linked seven.c 2>cc.err; then
    skip_all m32 'this compiler makes no 32-bit programs'
fi
printf '#!%s/narrow\n' "$SCRATCH" >script && chmod +x script

refused() {
    local name=$1 file=$2
    shift 2
    run_expect_status 2 "$name: the command ends with status 2" "$@"
    is_str "$(cat err)" "flame: $file: is a 32-bit program, of which flame records none; build it for 64 bits (without -m32) to record it" \
        "$name: the error says why"
    ok "$name: no file is written" test ! -e x.svg
}

refused 'flame mem of a static 32-bit program' ./narrow "$FLAME" mem -o x.svg -- ./narrow
refused 'flame mem of a dynamic 32-bit program' ./linked "$FLAME" mem -o x.svg -- ./linked
refused 'flame mem of a script with a 32-bit interpreter' "$SCRATCH/narrow" "$FLAME" mem -o x.svg -- ./script
refused 'flame leak of a 32-bit program' ./linked "$FLAME" leak -o x.svg -- ./linked
refused 'flame run of a 32-bit program' ./linked "$FLAME" run -o x.svg -- ./linked
run_expect_status 2 'flame off of a 32-bit program ends with status 2' "$FLAME" off -o x.svg -- ./narrow
is_str "$(cat err)" 'flame: ./narrow: is a 32-bit program, whose system calls cannot be traced' \
    'flame off of a 32-bit program says why'

if ! { ./narrow; [ $? -eq 7 ]; } 2>/dev/null; then
    skip m32 'this kernel runs no 32-bit programs'
    done_testing
fi
run_expect_status 7 'a 32-bit child ends with its status' "$FLAME" mem -o x.folded -- sh -c './narrow; exit $?'
file_has err 'not recorded: narrow \(of another word size or processor\)$' 'the summary names a 32-bit child'
if type musl-gcc >/dev/null 2>&1; then
    CC=musl-gcc compile_victim eachcall -pthread
    run_expect_status 7 'a 32-bit program that a musl program executes ends with its status' \
        "$FLAME" mem -o x.folded -- ./eachcall ./narrow
    file_has err 'not recorded: narrow \(of another word size or processor\)$' \
        'the summary names a 32-bit program that a musl program executes'
else
    skip musl 'there is no musl-gcc'
fi

done_testing
