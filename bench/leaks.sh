#!/bin/bash
# leaks.sh: the cost of flame leak.
#
#     bench/leaks.sh [--million]
#
# A test suite under the gate, all of it in one process and each case in one of its own, beside a
# build with LeakSanitizer and valgrind's memcheck; with SUITE=COMMAND that command, too, which has
# to end with 0 however often it is run. Then a scan of a heap of a GiB, beside LeakSanitizer's, and
# the time for which a program is stopped when a region of it is scanned. Times by the clock and of
# CPU, turn by turn: the median, the smallest and the largest. ROUNDS (5) times each, scans three
# times at most, memcheck once. `make bench` runs it, too.
# shellcheck source=bench/lib.sh
. "${0%/*}/lib.sh"
export TMPDIR=$dir

shim=${SHIM:-$(dirname "$flame")/libflamemem.so}
build() { # NAME COMPILER ARGUMENT...: whether it can be built
    "${@:2}" -O2 -I"$root" -o "$dir/$1" 2>"$dir/err"
}
build cost "${CC:-gcc}" "$root/bench/cost.c"
build heap "${CC:-gcc}" "$root/bench/heap.c"
build stops "${CC:-gcc}" -pthread "$root/bench/stops.c"
build suite "${CXX:-g++}" -std=c++17 "$root/bench/suite.cc"

# The sanitizer needs ptrace, which containers may forbid.
lsan=yes
if ! build suite.lsan "${CXX:-g++}" -std=c++17 -fsanitize=leak "$root/bench/suite.cc" ||
    ! build heap.lsan "${CC:-gcc}" -fsanitize=leak "$root/bench/heap.c" ||
    ! "$dir/suite.lsan" --tiny >"$dir/out" 2>&1; then
    lsan=
    echo "  LeakSanitizer: cannot be built with or run here"
fi
valgrind=$(type -P valgrind) || echo "  no valgrind to compare with"

# A line of $dir/NAME: seconds by the clock, and of CPU.
run() { # NAME COMMAND...
    local name=$1
    shift
    "$dir/cost" "$dir/line" "$(type -P "$1")" "${@:2}" >"$dir/out" 2>"$dir/err" </dev/null
    awk '{ print $4 / 1e6, ($2 + $3) / 1e6; exit $1 }' "$dir/line" >>"$dir/$name" || {
        echo "leaks.sh: status $(cut -d' ' -f1 "$dir/line") of: $*" >&2
        tail -n 3 "$dir/err" >&2
        exit 1
    }
}

compared() { # NAME WHAT: how much longer than plain, turn by turn
    local of
    [ -s "$dir/$1" ] || return 0
    for of in 1 2; do
        paste -d' ' <(cut -d' ' -f$of "$dir/$1") <(cut -d' ' -f$of "$dir/plain") |
            awk 'NF > 1 { print ($2 > 0 ? $1 / $2 : 1) }' | spread
    done | tr '\n' ' ' | what=$2 awk \
        '{ printf "  %-36s %6.2f times as long (%.2f to %.2f), %.2f times the CPU (%.2f to %.2f)\n",
           ENVIRON["what"], $1, $2, $3, $4, $5, $6 }'
}

# Runs $dir/runner with nothing, with a command in front, and with another program.
suite() { # WHAT RUNNER WITH_LSAN MEMCHECK: the runner has "PREFIX..." as its arguments
    local what=$1 runner=$2 i
    rm -f "$dir/plain" "$dir/gate" "$dir/lsan" "$dir/memcheck"
    BINARY=$dir/suite "$runner" >"$dir/out" 2>&1 || {
        echo "leaks.sh: $what fails by itself" >&2
        exit 1
    }
    for ((i = 0; i < rounds; i++)); do
        BINARY=$dir/suite run plain "$runner"
        BINARY=$dir/suite run gate "$runner" "$flame" leak -q --
        [ -z "$3" ] || BINARY=$dir/suite.lsan run lsan "$runner"
        [ -z "$valgrind" ] || ((i > 0)) || BINARY=$dir/suite run memcheck "$runner" \
            "$valgrind" -q --leak-check=full --error-exitcode=23
    done
    echo "$(column plain 1) $(column plain 2)" | what=$what awk \
        '{ printf "%-38s %6.2f s  (%.2f to %.2f), %.2f s of CPU\n", ENVIRON["what"], $1, $2, $3, $4 }'
    compared gate 'flame leak'
    compared lsan "LeakSanitizer's build"
    compared memcheck 'memcheck'
}

size=
[ -z "$tiny" ] || size=--tiny
cat >"$dir/whole" <<END
#!/bin/bash
exec "\$@" "\$BINARY" $size
END
cat >"$dir/each" <<END
#!/bin/bash
for name in \$("\$BINARY" $size --list); do
    "\$@" "\$BINARY" $size \$name || exit
done
END
cat >"$dir/given" <<'END'
#!/bin/bash
exec "$@" bash -c "$SUITE"
END
chmod +x "$dir/whole" "$dir/each" "$dir/given"
cases=$("$dir/suite" ${size:+"$size"} --list | wc -l)
suite "$cases test cases in one process" "$dir/whole" "$lsan"
suite "$cases test cases in $cases processes" "$dir/each" "$lsan"
[ -z "${SUITE:-}" ] || valgrind='' suite "$SUITE" "$dir/given" ''

# A line of $dir/NAME: seconds of CPU a look takes, and by the clock.
look() { # NAME COMMAND...
    local name=$1
    shift
    "$@" 2>"$dir/err" | awk '{ print $1 / 1e9, $2 / 1e9 }' >>"$dir/$name"
    rm -f "$dir/look.flame"*
}

looked() { # NAME WHAT
    echo "$(column "$1" 1) $(column "$1" 2)" | what=$2 awk \
        '{ printf "%-38s %6.2f s of CPU  (%.2f to %.2f), %.2f s by the clock\n",
           ENVIRON["what"], $1, $2, $3, $4 }'
}

recorded=("LD_PRELOAD=$shim" "FLAMEMEM_OPTIONS=leak=1:quiet=1:out=$dir/look.flame")
mib=$((tiny ? 4 : 1024))
[ "$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)" -gt $((mib * 4096)) ] || {
    echo "  looks at $mib MiB: there is no memory for $((mib * 4)) MiB"
    exit 0
}
for kind in plain graph pages; do
    case $kind in
    plain) what='blocks of 64 bytes, no pointers' ;;
    graph) what="$((mib * 16384 * 7 / 1000000)) million pointers, 64 bytes a block" ;;
    pages) what="$((mib * 131072 / 1000000)) million pointers, 4 KiB a block" ;;
    esac
    for ((i = 0; i < rounds && i < 3; i++)); do
        look "look-$kind" env "${recorded[@]}" "$dir/heap" "$kind" $mib
        [ -z "$lsan" ] || look "lsan-$kind" "$dir/heap.lsan" "$kind" $mib
    done
    looked "look-$kind" "$mib MiB: $what"
    # LeakSanitizer scans in a process of its own, whose CPU time is not reported.
    [ -z "$lsan" ] || column "lsan-$kind" 2 | awk \
        '{ printf "  LeakSanitizer                        %6.2f s by the clock  (%.2f to %.2f)\n", $1, $2, $3 }'
done

# "THREADS MIB": the clock of one thread shows how long it was stopped.
for stop in "1 1" "1000 1" "1 $((mib / 4))"; do
    # shellcheck disable=SC2086 # two words
    env "${recorded[@]}" "$dir/stops" $stop "$rounds" >"$dir/stops.out" 2>"$dir/err"
    rm -f "$dir/look.flame"*
    ended=$(awk '$1 == "ended" { print $2 }' "$dir/stops.out")
    grep -v ended "$dir/stops.out" >"$dir/marks"
    echo "$(column marks 1) $(column marks 2)" |
        what="a mark: ${stop% *} waiting, ${stop#* } MiB" ended=$ended awk \
            '{ printf "%-38s stands for %.0f ms  (%.0f to %.0f), the mark takes %.0f ms; %d calls ended\n",
               ENVIRON["what"], $1 / 1e6, $2 / 1e6, $3 / 1e6, $4 / 1e6, ENVIRON["ended"] }'
done
