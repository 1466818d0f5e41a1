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
ok 'and where the header is, wherever the tree has been put' \
    "${CC:-gcc}" -Wall -Werror -o tag tag.c $(pkg-config --cflags --libs flamemem)
run "$(pkg-config --variable=flame flamemem)" mem -o tag.folded -- ./tag
file_has tag.folded 'tag: a request.* 1234$' 'and the command, which sees what the program says'

# ---- CMake ----

if command -v cmake >/dev/null; then
    # shellcheck disable=SC2317 # called by run
    cmake_with() { cmake -S "$ROOT/examples/project" -B cb -DCMAKE_PREFIX_PATH="$prefix" "$@"; }
    run_expect_status 0 'CMake finds flame' cmake_with
    file_has cb/CMakeCache.txt "^Flame_EXECUTABLE:.*=$prefix/bin/flame\$" 'the one that was installed with it'
    run_expect_status 0 'and builds with its header' cmake --build cb
    # shellcheck disable=SC2317 # the same
    tested() { (cd cb && ctest --output-on-failure); }
    run_expect_status 0 'a test that leaks fails, as it should, and one that does not passes' tested
    # With nothing else than flame to notice.
    run_expect_status 0 'the leaking one itself is content' cb/test_list leaky
    is_int "$(find cb/leaks -name leak.json | wc -l)" 1 'the results of the one that leaks are kept'
    sed 's/find_package(Flame 0.1/find_package(Flame 9/' "$ROOT/examples/project/CMakeLists.txt" >CMakeLists.txt
    cp "$ROOT"/examples/project/*.[ch] .
    run cmake -S . -B nb -DCMAKE_PREFIX_PATH="$prefix"
    ok 'a later major version is not there' test "$status" -ne 0
    file_has err 'version: *'"$version" 'which CMake says'
    sed 's/COMMAND test_list)/test_list)/' "$ROOT/examples/project/CMakeLists.txt" >CMakeLists.txt
    run cmake -S . -B wb -DCMAKE_PREFIX_PATH="$prefix"
    file_has err 'flame_add_leak_test\(list\): COMMAND is missing' 'a call without a command is named'
else
    skip cmake 'there is no cmake'
fi

# ---- Meson ----

if command -v meson >/dev/null; then
    run_expect_status 0 'Meson finds the header' meson setup mb "$ROOT/examples/project"
    run_expect_status 0 'without flame its tests pass' meson test -C mb
    run meson test -C mb --setup leak --no-suite leaky
    is_int "$status" 0 'with it, too, but for the one that leaks'
    run meson test -C mb --setup leak --suite leaky
    ok 'which fails' test "$status" -ne 0
    file_has out 'leaky +FAIL.*exit status 23' 'with 23'
else
    skip meson 'there is no meson'
fi
ok 'the example stays as it is' test -z "$(git -C "$ROOT" -c safe.directory="$ROOT" status --porcelain \
    --ignored examples/project 2>/dev/null | grep -v '^??')"

done_testing
