#!/bin/bash
# Errors of flame mem's command line: one line, exit 2, and nothing has run.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/refused.sh"

compile_victim keeper
refused 'no command' 'no command' mem -o x.svg
refused 'unknown option' 'no-such' mem --no-such -o x.svg -- ./touch.sh
refused 'unknown short option' '-z' mem -z ./touch.sh
refused 'an option without its value' '--view: needs a value' mem --view
refused 'unknown view' '--view peek: expected alloc, count, live, peak, temp, leak, definite, indirect, inner, reachable, region, growth, mmap, brk, unmapped, rss, swap, slack, kept, fault, touched, sizes, lifetimes, short or old' \
    mem --view peek -o x.svg -- ./touch.sh
refused 'bad depth' '--depth 5x' mem --depth 5x -o x.svg -- ./touch.sh
refused 'unknown ending' '-o x.svgg: .*\.svg' mem -o x.svgg -- ./touch.sh
refused 'no ending' '-o -: .*\.svg' mem -o - -- ./touch.sh
refused 'directory that is not there' 'none/x.svg: cannot write: No such file or directory; choose a directory' mem -o none/x.svg ./touch.sh
mkdir dir.svg
refused 'directory as output' 'dir.svg: cannot write: Is a directory; name a file in it' mem -o dir.svg ./touch.sh
refused 'missing command' 'no-such-command: no such program in PATH' \
    mem -o x.svg -- no-such-command
refused 'a value apart from its option' \
    '10ms: no such program in PATH; if it is the value of --moments, write --moments=10ms' \
    mem --moments 10ms ./touch.sh
refused 'missing path' './none: no such program' mem -o x.svg -- ./none
refused 'directory as command' 'is a directory' mem -o x.svg -- ./dir.svg
cp touch.sh plain.sh && chmod -x plain.sh
refused 'not executable' 'not executable' mem -o x.svg -- ./plain.sh
refused 'control characters in the name' 'a\\x1b\[31m' mem -o x.svg -- "$(printf './a\x1b[31m')"
printf '#!/no/such/interpreter\n' >orphan.sh && chmod +x orphan.sh
refused 'missing interpreter' "interpreter '/no/such/interpreter'" mem -o x.svg -- ./orphan.sh

# A read-only place: by permission for users, by the kind of file system for root.
refused 'file system that takes no files' '/proc/x.svg: cannot write: ' mem -o /proc/x.svg ./touch.sh
if [ "$(id -u)" -ne 0 ]; then
    mkdir -m 0555 locked
    refused 'unwritable directory' 'Permission denied' mem -o locked/x.svg ./touch.sh
fi

printf 'int main(void) { return 0; }\n' >nothing.c
if "${CC:-gcc}" -static -o static nothing.c 2>/dev/null; then
    refused 'static program' 'linked statically' mem -o x.svg -- ./static
    printf '#!%s/static\n' "$SCRATCH" >by-static.sh && chmod +x by-static.sh
    refused 'script of a static interpreter' 'linked statically' mem -o x.svg -- ./by-static.sh
fi
"${CC:-gcc}" -static-pie -o static-pie nothing.c 2>/dev/null &&
    refused 'static-pie program' 'linked statically' mem -o x.svg -- ./static-pie

# Another processor: a copy with e_machine (offset 18) overwritten.
cp keeper other && printf '\xf3\x00' | dd of=other bs=1 seek=18 conv=notrunc status=none
refused 'another processor' 'another processor' mem -o x.svg -- ./other
head -c 40 keeper >short && chmod +x short
refused 'ELF file that is cut' 'damaged ELF' mem -o x.svg -- ./short

# Root runs its own set-user-id programs without a change of privileges, so the file
# must be another user's.
if [ "$(id -u)" -eq 0 ]; then
    cp keeper setuid && chown 65534 setuid && chmod u+s setuid
    refused 'set-user-id program' 'set-user-id' mem -o x.svg -- ./setuid
    cp keeper setgid && chgrp 65534 setgid && chmod g+s setgid
    refused 'set-group-id program' 'set-group-id' mem -o x.svg -- ./setgid
    chown 0 setuid && chmod u+s setuid
    run_expect_status 0 'a set-user-id program that gains nothing runs' \
        "$FLAME" mem -o own.folded -- ./setuid
else
    skip not-root 'set-user-id programs of others are made by root'
fi

FLAME_MEM_SHIM=$SCRATCH/none.so refused 'missing library' 'none.so: .*FLAME_MEM_SHIM' \
    mem -o x.svg ./touch.sh
FLAME_MEM_SHIM=$SCRATCH/touch.sh refused 'a library that is no shared object' 'not a shared library' \
    mem -o x.svg ./touch.sh
cp "$FLAME" alone
FLAME=$SCRATCH/alone refused 'flame without its library' 'libflamemem.so: not beside' \
    mem -o x.svg ./touch.sh

is_str "$(ls tmp)" '' 'refused commands leave no recording in TMPDIR'

done_testing
