#!/usr/bin/env bash
# flame mem -p PID --kept: members of variables have their names, by debug information of all kinds.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
. "$ROOT/tests/cli/attach.sh"
unset FLAME_DEBUG_DIRS
use_own_tmpdir

# search PROGRAM: records what its members keep; each block has a size of its own
search() {
    begin "./$1"
    if ! attach --kept; then
        if grep -q 'CAP_SYS_PTRACE\|ptrace_scope\|seccomp filter over this flame' err; then
            tell quit
            skip_all ptrace "$(head -1 err)"
        fi
        diag "$(cat err)"
    fi
    tell work || test_fail "$1 works under flame mem -p --kept"
    leave
    tell quit
    wait "$victim"
    is_int "$status" 0 "flame mem -p --kept of $1 ends with status 0"
}

# kept: variable, member with its own member and size of each block that a member keeps, by size
kept() {
    fview kept | awk -F ';' '$2 ~ /^\[globals of (owning|inheriting)\]$/ && $4 ~ /^[.[+]/ {
        sub(/.* /, "", $NF)
        sub(/^fill_kept\./, "", $3)
        sub(/^kept\.[0-9]+$/, "kept", $3)
        print $NF, $3, $4 ($5 ~ /^(\.|\[[0-9])/ ? $5 : "")
    }' | sort -n
}

members='1001 server .db
1002 server .other[1][2]
1003 server .pairs[3].dict
1004 server .cache.lru.head
1005 server .either
1006 server .plain
1007 server .first
1008 server .buffer[16]
1009 server .ends
1010 slots [3].next
1011 kept .last
1012 padded +0x8'
objects='2001 space::object .root
2002 space::object .name._M_dataplus._M_p
2003 space::object .own
2004 shape::shared .left'

check() { # NAME [FLAG...]
    local name=$1
    shift
    compile_victim owning "$@"
    search owning
    is_str "$(kept)" "$members" "$name: members of C"
    compile_victim inheriting "$@"
    search inheriting
    is_str "$(kept)" "$objects" "$name: members of C++, with those of base classes"
}

check 'DWARF 5' -gdwarf-5
cp owning owning5
check 'DWARF 4' -gdwarf-4
check 'compressed' -gdwarf-5 -gz
if command -v clang >/dev/null && command -v clang++ >/dev/null; then
    CC=clang CXX=clang++ check 'clang, DWARF 5' -gdwarf-5
    CC=clang CXX=clang++ check 'clang, DWARF 4' -gdwarf-4
else
    diag 'no clang and clang++ here'
fi

compile_victim owning -g0
search owning
is_str "$(kept | sed 's/ +0x[0-9a-f]*$/ offset/' | sort -u | wc -l)" 12 'without -g each word is there'
is_str "$(kept | grep -v ' +0x[0-9a-f]*$')" '' 'without -g words have their offsets'
is_str "$(kept | head -n 1)" '1001 server +0x8' 'without -g the offset is the one in the variable'

# In a separate file.
cp owning5 owning
objcopy --only-keep-debug owning owning.debug
strip -g owning
objcopy --add-gnu-debuglink=owning.debug owning
search owning
is_str "$(kept)" "$members" 'debug information in a file that .gnu_debuglink names'
rm owning.debug

compile_victim owning -gdwarf-5 -Wl,--build-id=sha1
id=$(readelf -n owning | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/${id:0:2}"
objcopy --only-keep-debug owning "debug/.build-id/${id:0:2}/${id:2}.debug"
strip -s owning
export FLAME_DEBUG_DIRS=$SCRATCH/debug
search owning
is_str "$(kept)" "$members" 'debug information in a file found by build-id'
unset FLAME_DEBUG_DIRS

if command -v dwz >/dev/null; then
    cp owning5 owning
    cp owning5 twin
    dwz -m shared.dwz -M "$SCRATCH/shared.dwz" owning twin
    search owning
    is_str "$(kept)" "$members" 'debug information shared by dwz'
else
    skip dwz 'no dwz here'
fi

# Damaged debug information costs names only. libdwarf dies of some of it.
for section in info abbrev str rnglists addr; do
    python3 -c 'import random, sys; random.seed(sys.argv[1]); sys.stdout.buffer.write(random.randbytes(100000))' \
        $section >noise
    objcopy --update-section .debug_$section=noise owning5 owning 2>/dev/null || continue
    search owning
    is_str "$(kept | cut -d ' ' -f 1,2)" "$(cut -d ' ' -f 1,2 <<<"$members")" \
        "noise in .debug_$section: each word is there"
    [ -n "${SAN-}" ] || ok "noise in .debug_$section: at most one line reports it" \
        test "$(grep -c 'libdwarf cannot read' err)" -le 1
done
done_testing
