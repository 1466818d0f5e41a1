#!/bin/bash
# The adapters of examples/leak/: under flame leak exactly the test that leaks fails, as a failure
# of its framework; without it all tests pass.
. "${0%/*}/../lib.sh"

E=$ROOT/examples/leak

# build LANGUAGE SOURCE [FLAG...]: into $SCRATCH/suite; a failure ends the test.
build() {
    local compiler=("${CC:-gcc}")

    [ "$1" != c++ ] || compiler=("${CXX:-g++}" -std=c++17)
    if ! build_kept "$SCRATCH/suite" "${compiler[@]}" -g -O0 -Wall -Wextra -I"$ROOT/preload" -I"$E" "$E/$2" "${@:3}" \
        >built 2>&1; then
        test_fail "$2 is built" "$(head -c 2000 built)"
        exit 1
    fi
    test_ok "$2 is built"
}

# check NAME PASSED FAILED_ONE OTHERS: all pass without flame leak (a line of the output matches
# PASSED); with it FAILED_ONE matches the failed test, and OTHERS those that pass.
check() {
    run_expect_status 0 "$1: all tests pass without flame leak" "${suite[@]}"
    cat err >>out
    file_has out "$2" "$1: the passed tests are counted"
    run "$FLAME" leak -o leak.folded "${options[@]}" -- "${suite[@]}"
    cat err >>out
    # Catch2 3 ends with 42.
    is_int "$((status != 0 && status != 23))" 1 "$1: the suite itself fails under flame leak"
    file_has out "$3" "$1: the test that leaks fails"
    is_int "$(grep -Ec -- "$4" out)" 2 "$1: the other tests pass"
    file_has out "^ *(# )?.*leaks $5 bytes in $6 blocks" "$1: the suite prints what leaks"
    file_has out "left behind by 1 region:$" "$1: flame leak reports one region"
}
suite=(./suite)
options=()

if printf '#include <gtest/gtest.h>\n' | "${CXX:-g++}" -std=c++17 -E -x c++ - >/dev/null 2>&1; then
    build c++ suite_gtest.cc -lgtest -pthread
    check GoogleTest '^\[  PASSED  \] 3 tests' '^\[  FAILED  \] Names\.Leaky$' \
        '^\[       OK \] Names\.Good(Again)? ' 101 1
else
    skip libgtest-dev 'no GoogleTest here'
fi

# Catch2 3 is two libraries and many headers, Catch2 2 one header.
catch2() {
    printf '#if !__has_include(<catch2/%s>)\n#error none\n#endif\n' "$1" |
        "${CXX:-g++}" -E -x c++ - >/dev/null 2>&1
}
if catch2 catch_all.hpp || catch2 catch.hpp; then
    libraries=(-lCatch2Main -lCatch2)
    catch2 catch_all.hpp || libraries=()
    build c++ suite_catch2.cc "${libraries[@]}"
    suite=(./suite -r junit)
    check Catch2 'failures="0" .*tests="[45]"' '<testcase .*name="leaky" .*[^/]>$' \
        '<testcase .*name="good( again)?" .*/>$' 202 1
    suite=(./suite)
else
    skip catch2 'no Catch2 here'
fi

if printf '#include <stdarg.h>\n#include <stddef.h>\n#include <setjmp.h>\n#include <stdint.h>\n#include <cmocka.h>\n' |
    "${CC:-gcc}" -E -x c - >/dev/null 2>&1; then
    build c suite_cmocka.c -lcmocka
    check cmocka '^\[  PASSED  \] 3 test\(s\)' '^\[  (ERROR )?  \] test_leaky' \
        '^\[       OK \] test_good(_again)?$' 301 1
else
    skip libcmocka-dev 'no cmocka here'
fi

if printf '#include <check.h>\n' | "${CC:-gcc}" -E -x c - >/dev/null 2>&1; then
    # shellcheck disable=SC2046 # flags are words
    build c suite_check.c $(pkg-config --cflags --libs check)
    check Check '^100%: Checks: 3, Failures: 0' ':[SF]:names:test_leaky:0: leaks ' \
        ':P:names:test_good(_again)?:0: Passed$' 401 1
    export CK_FORK=no
    check 'Check in one process' '^100%: Checks: 3, Failures: 0' \
        ':[SF]:names:test_leaky:0: leaks ' ':P:names:test_good(_again)?:0: Passed$' 401 1
    unset CK_FORK
else
    skip check 'no Check here'
fi

build c suite_tap.c
check TAP '^1\.\.3$' '^not ok 2 - leaky$' '^ok [13] - good( again)?$' 501 1

# Debian's python has Debian's pytest.
python=$(command -v /usr/bin/python3 || command -v python3 || echo false)
if "$python" -c 'import pytest' 2>/dev/null; then
    cp "$E"/*.py .
    ok 'the library that pytest loads is built' "${CC:-gcc}" -g -O0 -shared -fPIC \
        -o suite_pytest.so "$E/suite_pytest.c"
    suite=("$python" -m pytest -v -p no:cacheprovider)
    options=(--no-follow)
    check pytest '3 passed' '^FAILED test_pytest\.py::test_leaky' \
        '^test_pytest\.py::test_good(_again)? PASSED' '[0-9]+' '[0-9]+'
else
    skip python3-pytest 'no pytest here'
fi

done_testing
