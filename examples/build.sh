#!/usr/bin/env bash
# build.sh [OUT]: where `make -j4` waits. A small C tree in a temporary directory: eight
# files, a library of them, and a program, of which one step everybody waits for is slow.
# Leaves a page with all views in OUT (build-off.html). Needs Debian's packages make, gcc.
set -eu

flame=${FLAME:-${0%/*}/../build/flame}
flame=$(realpath "$flame")
out=$(realpath -m "${1:-build-off.html}")
for tool in make cc; do
    command -v "$tool" >/dev/null || {
        echo "build.sh: no $tool: apt-get install make gcc" >&2
        exit 2
    }
done
dir=$(mktemp -d "${TMPDIR:-/tmp}/flame-build.XXXXXX")
trap 'rm -rf "$dir"' EXIT

cat >"$dir/Makefile" <<'MAKE'
OBJ := $(foreach n,1 2 3 4 5 6 7 8,part$(n).o)

all: program
tables.h: slow-generator
	sh ./slow-generator > $@
%.o: %.c tables.h
	$(CC) -O2 -c -o $@ $<
parts.a: $(OBJ)
	$(AR) rcs $@ $(OBJ)
program: main.o parts.a
	$(CC) -o $@ main.o parts.a
MAKE
cat >"$dir/slow-generator" <<'SH'
sleep 0.5
echo '#define SIZE 64'
SH
for n in 1 2 3 4 5 6 7 8; do
    {
        echo '#include <stdio.h>'
        echo '#include "tables.h"'
        for k in $(seq 40); do
            echo "int f${n}_$k(int x) { int a[SIZE]; for (int i = 0; i < SIZE; i++) a[i] = x * i;"
            echo "    return printf(\"%d\", a[x % SIZE]); }"
        done
    } >"$dir/part$n.c"
done
printf '#include "tables.h"\nint f1_1(int);\nint main(void) { return f1_1(SIZE) < 0; }\n' >"$dir/main.c"

"$flame" off -o "$out" -- make -s -j4 -C "$dir"
