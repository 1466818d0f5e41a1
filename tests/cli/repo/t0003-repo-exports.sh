#!/bin/bash
# libflamemem.so exports exactly the names in preload/libflamemem.map.
. "${0%/*}/../lib.sh"
map=$ROOT/preload/libflamemem.map

nm -D --defined-only "$SHIM" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u >exported
sed -n '/global:/,/local:/p' "$map" | sed 's|/\*.*\*/||; s/global://; s/local:.*//' |
    tr -d ' \t' | tr ';' '\n' | grep . | sort -u >wanted
ok 'libflamemem.map has names' test -s wanted
is_str "$(comm -23 exported wanted)" '' 'libflamemem.so exports only names in the map'
is_str "$(comm -13 exported wanted)" '' 'libflamemem.so exports each name in the map'
for name in malloc calloc realloc free posix_memalign malloc_usable_size; do
    ok "libflamemem.so exports $name" grep -qx "$name" exported
done

# Every system call of the shim goes through common/kernel.h: it imports no function that
# makes one, but mprotect, for the time it starts.
imports=$(nm -D --undefined-only "$SHIM" | awk '{ sub(/@.*/, "", $NF); print $NF }')
unlike "$imports" '^(syscall|prctl|open(at)?|read|write|pread|pwrite|close|f?stat(at)?|__f?xstat|readlink(at)?|mmap|munmap|mremap|madvise|getpp?id|gettid|sched_yield|ftruncate|(posix_)?fallocate|unlink(at)?|kill|tgkill|sigaction|sigprocmask|fork|ioctl|lseek|nanosleep)(64)?$' \
    'libflamemem.so makes system calls only through its gate'

needed=$(readelf -dW "$SHIM" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
unlike "$needed" 'asan|ubsan|stdc\+\+' 'libflamemem.so needs no sanitizer and no C++ library'
like "$(readelf -dW "$SHIM")" 'BIND_NOW|NOW' 'libflamemem.so has immediate binding'

# A hook that ends by a jump into another function has left the frame in which the other
# looks for the caller's registers.
is_str "$(objdump -d --no-show-raw-insn "$SHIM" | awk '
    /^[0-9a-f]+ </ { name = $2; hook = name ~ /^<(malloc|calloc|realloc|reallocarray|posix_memalign|aligned_alloc|memalign|valloc|pvalloc)>/ }
    hook && $2 ~ /^(jmp|b)$/ && $NF ~ /^<[a-z_0-9.]+>$/ && $NF !~ /cold|arena/ { print name, $NF }')" '' \
    'no hook of libflamemem.so ends by a tail call'

# libflamewait.so runs at any moment and exports nothing; except the functions by which a program
# marks regions.
wait=${SHIM%/*}/libflamewait.so
is_str "$(nm -D --defined-only "$wait" | awk '{ print $3 }' | sort | tr '\n' ' ')" 'flamemem_ask_tag_pop flamemem_ask_tag_push flamemem_mark flamemem_pass_mark flamemem_tag_pop flamemem_tag_push ' \
    'libflamewait.so exports only the region functions of flamemem.h'
unlike "$(nm -D --undefined-only "$wait" | awk '{ sub(/@.*/, "", $NF); print $NF }')" \
    '^(mem(cpy|set|move)|malloc|free|calloc|realloc)$' 'libflamewait.so imports no memory function'
is_str "$(objdump -d --no-show-raw-insn "$wait" | grep -cE '%[xyz]?mm[0-9]|%st')" 0 \
    'libflamewait.so uses no vector and no x87 register'
is_str "$(objdump -d "${SHIM%/*}/libflamegate.so" | grep -c '	syscall')" 1 'libflamegate.so has one system call'

done_testing
