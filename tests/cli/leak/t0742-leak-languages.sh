#!/bin/bash
# flame leak: the class of every block of C++'s containers and pointers, of both C++ libraries, and
# of Rust's (tests/victims/leak/kinds_*).
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/leak.sh"

build_kinds cxx -std=c++17
check_kinds ./kinds_cxx

if clang++ -stdlib=libc++ -std=c++17 -O0 -g -pthread -I"$ROOT" -o kinds_libcxx \
    "$ROOT/tests/victims/leak/kinds_cxx.cc" 2>cxx.err; then
    check_kinds ./kinds_libcxx
else
    # Debian's libc++-dev and libunwind-dev, which the build needs, are not installed together.
    printf '# no clang++ with libc++ here: its containers are not tested\n'
fi

if command -v rustc >/dev/null && rustc --version >/dev/null 2>&1; then
    ok 'the cases in Rust are built' rustc -g -o kinds_rust "$ROOT/tests/victims/leak/kinds_rust.rs"
    check_kinds ./kinds_rust
else
    printf '# rustc is not here: its cases are not tested\n'
fi

done_testing
