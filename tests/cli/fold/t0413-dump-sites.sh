#!/bin/bash
# flame dump --sites: the system calls of real files are those that objdump sees, each has a
# kind or a reason, and what is no program is refused.
. "${0%/*}/../lib.sh"

# Addresses of the instruction, as objdump has them: "0x1234".
calls_by_objdump() {
    objdump -d --no-show-raw-insn "$1" |
        awk -F: '/\tsyscall *$/ { gsub(/ /, "", $1); print "0x" $1 }' | sort
}

# The C library, the loader and what else flame has, libpthread where it has calls of its own.
libraries() {
    ldd "$FLAME" | grep -oE '/[^ ]*/(libc|libpthread|librt|ld-linux-x86-64)\.so[^ ]*'
    find /lib/x86_64-linux-gnu/ -name libpthread.so.0
    echo "$FLAME"
}

seen=0
for file in $(libraries | sort -u); do
    name=${file##*/}
    run_expect_status 0 "$name is read" "$FLAME" dump --sites "$file"
    mv out "$name.sites"
    is_str "$(grep -v ' kind=call ' "$name.sites" | sed -n 's/^site call=\([^ ]*\) .*/\1/p' | sort)" \
        "$(calls_by_objdump "$file")" "$name: the calls are those that objdump sees"
    is_int "$(sed -n 's/^file .* instructions=\([0-9]*\) .*/\1/p' "$name.sites")" \
        "$(objdump -d --no-show-raw-insn "$file" | grep -cP '^ *[0-9a-f]+:\t')" \
        "$name: and so are all instructions"
    is_int "$(sed -n 's/^file .* unreadable_bytes=\([0-9]*\) .*/\1/p' "$name.sites")" 0 \
        "$name: nothing in it could not be read"
    is_int "$(sed -nE 's/^sum .* sites=([0-9]+)$/\1/p' "$name.sites" | awk '{ n += $1 } END { print n + 0 }')" \
        "$(grep -c '^site ' "$name.sites")" "$name: each has a kind or a reason"
    seen=$((seen + 1))
done
ok 'the C library was among them' test "$seen" -gt 2

# Known facts from the C library's source about some of its functions.
file_has libc.so.6.sites '^site .* kind=number reason=fine number=39 .* function=_*getpid$' \
    'getpid can be patched by its number'
file_has libc.so.6.sites '^site .* kind=before reason=fine number=-1 .* function=syscall$' \
    'so can syscall(), whose number is in a register'
file_has libc.so.6.sites '^site .* kind=none reason=returns-twice number=58 name=vfork .* function=_*vfork$' \
    'vfork cannot'
is_int "$(grep -c 'reason=sigreturn number=15 ' libc.so.6.sites)" 1 'nor can the one return of signals'
is_str "$(sed -nE 's/^site .* number=(56|58|435|60|15) .*/\1/p' <(grep -v kind=none libc.so.6.sites))" '' \
    'no call that returns twice or not at all can'

run_expect_status 0 'as JSON' "$FLAME" dump --sites -j -o sites.json "$(ldd "$FLAME" | grep -oE '/[^ ]*/libc\.so\.6')"
is_int "$(python3 -c "import json; print(len(json.load(open('sites.json'))['site']))")" \
    "$(grep -c '^site ' libc.so.6.sites)" 'it is the same list'

echo text >no.so
run_expect_status 2 'no ELF file' "$FLAME" dump --sites no.so
file_has err '^flame: no.so: no ELF file with code for x86-64; --sites takes a program or a library$' 'is said'
run_expect_status 2 'a directory' "$FLAME" dump --sites /
file_has err '^flame: /: ' 'is said'
run_expect_status 2 'no file' "$FLAME" dump --sites
file_has err 'dump: takes one file; got 0' 'is said'
run_expect_status 2 'a section' "$FLAME" dump --sites -s row no.so
file_has err 'dump: -s is of traces' 'is said'

# Where unwind tables tell of functions, what lies in none may be data.
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
run_expect_status 0 'a library with a table among its code' "$FLAME" dump --sites beside.so
file_has out '^site .* kind=number reason=fine number=39 ' 'a call in a function can be patched'
file_has out '^site .* kind=none reason=doubtful number=110 ' 'one beside it is doubted'

# A file that is cut has what is left of it, or none.
head -c 100000 "$FLAME" >cut.so
"$FLAME" dump --sites cut.so >cut.out 2>&1
ok 'a cut file ends with 0 or 2' test $? -eq 0 -o $? -eq 2

done_testing
