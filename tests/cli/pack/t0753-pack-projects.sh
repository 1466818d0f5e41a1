#!/bin/bash
# Other projects find an installed flame by pkg-config, CMake and Meson, and have tests that fail when
# they leak: examples/project.
. "${0%/*}/../lib.sh"

unset MAKEFLAGS MFLAGS MAKELEVEL PKG_CONFIG_PATH CMAKE_PREFIX_PATH
prefix="$SCRATCH/opt/flame"
eval "install_run() { ( cd '$ROOT' && ${FLAME_MAKE:-make --no-print-directory} \"\$@\" ); }"
run_expect_status 0 'make install' install_run install DESTDIR="$SCRATCH" PREFIX=/opt/flame
version=$("$FLAME" --version | sed 's/flame //')
export PKG_CONFIG_PATH="$prefix/share/pkgconfig"

# ---- pkg-config ----

is_str "$(pkg-config --modversion flamemem)" "$version" 'pkg-config knows the version'
cat >tag.c <<'END'
#include <flamemem.h>
#include <stdlib.h>
int main(void)
{
    flamemem_tag_push("a request");
    free(malloc(1234));
    return 0;
}
END
# shellcheck disable=SC2046 # words
ok 'pkg-config knows the header of a moved tree' \
    "${CC:-gcc}" -Wall -Werror -o tag tag.c $(pkg-config --cflags --libs flamemem)
run "$(pkg-config --variable=flame flamemem)" mem -o tag.folded -- ./tag
file_has tag.folded 'tag: a request.* 1234$' 'pkg-config knows the command, which records the tag'

# ---- CMake ----

if command -v cmake >/dev/null; then
    # shellcheck disable=SC2317 # called by run
    cmake_with() { cmake -S "$ROOT/examples/project" -B cb -DCMAKE_PREFIX_PATH="$prefix" "$@"; }
    run_expect_status 0 'CMake finds flame' cmake_with
    file_has cb/CMakeCache.txt "^Flame_EXECUTABLE:.*=$prefix/bin/flame\$" \
        'CMake finds the flame that was installed'
    run_expect_status 0 'CMake builds with the header of flame' cmake --build cb
    # shellcheck disable=SC2317 # the same
    tested() { (cd cb && ctest --output-on-failure); }
    run_expect_status 0 'CMake: the leaking test fails as expected, the other passes' tested
    # Only flame detects the leak.
    run_expect_status 0 "CMake: the leaking test's own check passes" cb/test_list leaky
    is_int "$(find cb/leaks -name leak.json | wc -l)" 1 'CMake keeps the results of the leaking test'
    sed 's/find_package(Flame 0.1/find_package(Flame 9/' "$ROOT/examples/project/CMakeLists.txt" >CMakeLists.txt
    cp "$ROOT"/examples/project/*.[ch] .
    run cmake -S . -B nb -DCMAKE_PREFIX_PATH="$prefix"
    ok 'CMake does not accept a later major version' test "$status" -ne 0
    file_has err 'version: *'"$version" 'CMake names the version it found'
    sed 's/COMMAND test_list)/test_list)/' "$ROOT/examples/project/CMakeLists.txt" >CMakeLists.txt
    run cmake -S . -B wb -DCMAKE_PREFIX_PATH="$prefix"
    file_has err 'flame_add_leak_test\(list\): COMMAND is missing' 'CMake names a call without a command'
else
    skip cmake 'there is no cmake'
fi

# ---- Meson ----

if command -v meson >/dev/null; then
    run_expect_status 0 'Meson finds the header' meson setup mb "$ROOT/examples/project"
    run_expect_status 0 'Meson: the tests pass without flame' meson test -C mb
    run meson test -C mb --setup leak --no-suite leaky
    is_int "$status" 0 'Meson: the tests without leaks pass with flame'
    run meson test -C mb --setup leak --suite leaky
    ok 'Meson: the leaking test fails with flame' test "$status" -ne 0
    file_has out 'leaky +FAIL.*exit status 23' 'Meson: the leaking test ends with status 23'
else
    skip meson 'there is no meson'
fi
ok 'examples/project is unchanged' test -z "$(git -C "$ROOT" -c safe.directory="$ROOT" status --porcelain \
    --ignored examples/project 2>/dev/null | grep -v '^??')"

done_testing
