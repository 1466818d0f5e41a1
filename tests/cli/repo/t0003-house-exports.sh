#!/bin/bash
# libflamemem.so exports what preload/libflamemem.map names, no more and no less.
. "${0%/*}/../lib.sh"
map=$ROOT/preload/libflamemem.map

nm -D --defined-only "$SHIM" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u >exported
sed -n '/global:/,/local:/p' "$map" | sed 's|/\*.*\*/||; s/global://; s/local:.*//' |
    tr -d ' \t' | tr ';' '\n' | grep . | sort -u >wanted
ok "the map names something" test -s wanted
is_str "$(comm -23 exported wanted)" '' 'nothing is exported that the map does not name'
is_str "$(comm -13 exported wanted)" '' 'everything the map names is exported'
for name in malloc calloc realloc free posix_memalign malloc_usable_size; do
    ok "$name is interposed" grep -qx "$name" exported
done

# Every system call of the shim goes through common/kernel.h: it imports no function that
# makes one, but mprotect, for the time it starts.
imports=$(nm -D --undefined-only "$SHIM" | awk '{ sub(/@.*/, "", $NF); print $NF }')
unlike "$imports" '^(syscall|prctl|open(at)?|read|write|pread|pwrite|close|f?stat(at)?|__f?xstat|readlink(at)?|mmap|munmap|mremap|madvise|getpp?id|gettid|sched_yield|ftruncate|(posix_)?fallocate|unlink(at)?|kill|tgkill|sigaction|sigprocmask|fork|ioctl|lseek|nanosleep)(64)?$' \
    'no system call of the shim passes by its gate'

needed=$(readelf -dW "$SHIM" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
unlike "$needed" 'asan|ubsan|stdc\+\+' 'the shim needs no sanitizer and no C++ library'
like "$(readelf -dW "$SHIM")" 'BIND_NOW|NOW' 'the shim is bound when it is loaded'

# A hook that ended by a jump into another function would have left the frame that the other
# is to find the caller's registers in.
is_str "$(objdump -d --no-show-raw-insn "$SHIM" | awk '
    /^[0-9a-f]+ </ { name = $2; hook = name ~ /^<(malloc|calloc|realloc|reallocarray|posix_memalign|aligned_alloc|memalign|valloc|pvalloc)>/ }
    hook && $2 ~ /^(jmp|b)$/ && $NF ~ /^<[a-z_0-9.]+>$/ && $NF !~ /cold|arena/ { print name, $NF }')" '' \
    'no hook ends by a tail call'

# The library of waits is called in the middle of anything, by nobody's name; but for what a program
# says of itself.
wait=${SHIM%/*}/libflamewait.so
is_str "$(nm -D --defined-only "$wait" | awk '{ print $3 }' | sort | tr '\n' ' ')" 'flamemem_ask_tag_pop flamemem_ask_tag_push flamemem_mark flamemem_pass_mark flamemem_tag_pop flamemem_tag_push ' \
    'the library of waits exports flamemem.h'"'"'s regions and nothing else'
unlike "$(nm -D --undefined-only "$wait" | awk '{ sub(/@.*/, "", $NF); print $NF }')" \
    '^(mem(cpy|set|move)|malloc|free|calloc|realloc)$' 'it has its own of what compilers call, and no memory of the program'
is_str "$(objdump -d --no-show-raw-insn "$wait" | grep -cE '%[xyz]?mm[0-9]|%st')" 0 \
    'it uses no vector and no x87 register'
is_str "$(objdump -d "${SHIM%/*}/libflamegate.so" | grep -c '	syscall')" 1 'the gate has one system call'

done_testing
