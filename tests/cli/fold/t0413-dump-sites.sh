#!/bin/bash
# flame dump --sites: the system calls of real files are those of objdump, each has a
# kind or a reason, and other files are refused.
. "${0%/*}/../lib.sh"

# Addresses of the instruction, as objdump prints them: "0x1234".
calls_by_objdump() {
    objdump -d --no-show-raw-insn "$1" |
        awk -F: '/\tsyscall *$/ { gsub(/ /, "", $1); print "0x" $1 }' | sort
}

# The C library, the loader, flame, and libpthread where it has its own calls.
libraries() {
    ldd "$FLAME" | grep -oE '/[^ ]*/(libc|libpthread|librt|ld-linux-x86-64)\.so[^ ]*'
    find /lib/x86_64-linux-gnu/ -name libpthread.so.0
    echo "$FLAME"
}

seen=0
for file in $(libraries | sort -u); do
    name=${file##*/}
    run_expect_status 0 "dump --sites of $name succeeds" "$FLAME" dump --sites "$file"
    mv out "$name.sites"
    is_str "$(grep -v ' kind=call ' "$name.sites" | sed -n 's/^site call=\([^ ]*\) .*/\1/p' | sort)" \
        "$(calls_by_objdump "$file")" "$name: the system calls are those of objdump"
    is_int "$(sed -n 's/^file .* instructions=\([0-9]*\) .*/\1/p' "$name.sites")" \
        "$(objdump -d --no-show-raw-insn "$file" | grep -cP '^ *[0-9a-f]+:\t')" \
        "$name: the instructions are those of objdump"
    is_int "$(sed -n 's/^file .* unreadable_bytes=\([0-9]*\) .*/\1/p' "$name.sites")" 0 \
        "$name: all bytes are decoded"
    is_int "$(sed -nE 's/^sum .* sites=([0-9]+)$/\1/p' "$name.sites" | awk '{ n += $1 } END { print n + 0 }')" \
        "$(grep -c '^site ' "$name.sites")" "$name: each site has a kind or a reason"
    seen=$((seen + 1))
done
ok 'dump --sites read the C library' test "$seen" -gt 2

# Known facts from the C library's source about some of its functions.
file_has libc.so.6.sites '^site .* kind=number reason=fine number=39 .* function=_*getpid$' \
    'getpid can be patched by its number'
file_has libc.so.6.sites '^site .* kind=before reason=fine number=-1 .* function=syscall$' \
    'syscall() can be patched, with its number in a register'
file_has libc.so.6.sites '^site .* kind=none reason=returns-twice number=58 name=vfork .* function=_*vfork$' \
    'vfork cannot be patched'
is_int "$(grep -c 'reason=sigreturn number=15 ' libc.so.6.sites)" 1 'rt_sigreturn cannot be patched'
is_str "$(sed -nE 's/^site .* number=(56|58|435|60|15) .*/\1/p' <(grep -v kind=none libc.so.6.sites))" '' \
    'no call that returns twice or never can be patched'

run_expect_status 0 'dump --sites -j succeeds' \
    "$FLAME" dump --sites -j -o sites.json "$(ldd "$FLAME" | grep -oE '/[^ ]*/libc\.so\.6')"
is_int "$(python3 -c "import json; print(len(json.load(open('sites.json'))['site']))")" \
    "$(grep -c '^site ' libc.so.6.sites)" 'dump --sites -j has the same sites'

echo text >no.so
run_expect_status 2 'dump --sites of text ends with status 2' "$FLAME" dump --sites no.so
file_has err '^flame: no.so: no ELF file with code for x86-64; --sites takes a program or a library$' \
    'dump --sites of text says why'
run_expect_status 2 'dump --sites of a directory ends with status 2' "$FLAME" dump --sites /
file_has err '^flame: /: ' 'dump --sites of a directory says so'
run_expect_status 2 'dump --sites without a file ends with status 2' "$FLAME" dump --sites
file_has err 'dump: takes one file; got 0' 'dump --sites without a file says so'
run_expect_status 2 'dump --sites -s ends with status 2' "$FLAME" dump --sites -s row no.so
file_has err 'dump: -s is of traces' 'dump --sites -s says why'

# If unwind tables name the functions, bytes outside of all functions may be data.
cat >beside.s <<'S'
    .text
    .globl inside
inside: .cfi_startproc
    mov $39, %eax
    syscall
    ret
    .cfi_endproc
table:  mov $110, %eax
    syscall
    ret
S
"${CC:-gcc}" -shared -nostdlib -o beside.so beside.s
run_expect_status 0 'dump --sites of a library with data in its code succeeds' "$FLAME" dump --sites beside.so
file_has out '^site .* kind=number reason=fine number=39 ' 'a system call in a function can be patched'
file_has out '^site .* kind=none reason=doubtful number=110 ' \
    'a system call outside of all functions is doubtful'

# A truncated file gives its remaining sites, or an error.
head -c 100000 "$FLAME" >cut.so
"$FLAME" dump --sites cut.so >cut.out 2>&1
ok 'dump --sites of a truncated file ends with status 0 or 2' test $? -eq 0 -o $? -eq 2

done_testing
