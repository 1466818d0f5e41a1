#!/bin/bash
# The recipes of docs/leaks.md, verbatim: a runner of a good and a leaking test
# passes the one and fails the other.
. "${0%/*}/../lib.sh"

export PATH=${FLAME%/*}:$PATH
unset MAKEFLAGS MFLAGS MAKELEVEL

cat >good.c <<'END'
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    free(malloc(10));
    puts("1..1\nok 1 - good");
    return 0;
}
END
cat >leaky.c <<'END'
#include <stdio.h>
#include <stdlib.h>

static void *volatile p;

__attribute__((noinline)) static void lose(void)
{
    p = malloc(4321);
    p = NULL;
}

int main(void)
{
    lose();
    puts("1..1\nok 1 - leaky");
    return 0;
}
END
ok 'the good test is built' "${CC:-gcc}" -g -O0 -o good good.c
ok 'the leaking test is built' "${CC:-gcc}" -g -O0 -o leaky leaky.c

# The lines of the recipe of that name, without indentation: the page itself is tested.
recipe() {
    begin="**$1**" awk 'index($0, ENVIRON["begin"]) == 1 { on = 1; next }
        /^(\*\*|## )/ { on = 0 }
        on && sub(/^    /, "")' "$ROOT/docs/leaks.md"
}
# A folder with the two tests' sources, to be in.
enter() {
    mkdir "$SCRATCH/$1"
    cp "$SCRATCH"/*.c "$SCRATCH/good" "$SCRATCH/leaky" "$SCRATCH/$1"
    cd "$SCRATCH/$1" || exit 1
}
# is_left WHAT: results of the leaking test, and of no other, are below.
is_left() {
    is_str "$(find . -name leak.json | sed 's|.*/\([a-z]*\)[^/]*/leak.json|\1|')" leaky \
        "$1: the leaking test's results are kept"
    ok "$1: the results name the function" grep -rqs '"function": "lose"' --include=leak.json .
}

# ---- make ----

enter make
recipe make >Makefile
run make -k check
is_int "$status" 2 'make: check fails'
file_has ../err 'check-leaky. Error 23' 'make: the leaking test fails'
file_lacks ../err 'check-good. Error' 'make: the good test passes'
is_left make

# ---- prove ----

enter prove
recipe prove >line
run sh -c "$(cat line)"
is_int "$status" 1 'prove: the run fails'
file_has ../out '^\./leaky.*\(exited 23\)|^\./leaky .*Wstat: 5888' 'prove: the leaking test fails'
file_has ../out '^\./good \.+ ok' 'prove: the good test passes'
is_left prove

# ---- CTest ----

if command -v cmake >/dev/null && command -v ctest >/dev/null; then
    enter ctest
    recipe CTest >CMakeLists.txt
    ok 'CTest: the build succeeds' sh -c 'cmake -S . -B b && cmake --build b'
    run sh -c 'cd b && ctest'
    is_int "$status" 8 'CTest: the run fails'
    file_has ../out 'good .*Passed' 'CTest: the good test passes'
    file_has ../out 'leaky .*\*\*\*Failed' 'CTest: the leaking test fails'
    is_left CTest
else
    skip cmake 'no CMake here'
fi

# ---- Meson ----

if command -v meson >/dev/null && command -v ninja >/dev/null; then
    enter meson
    cat >meson.build <<'END'
project('leaks', 'c')
test('good', executable('good-test', 'good.c'))
test('leaky', executable('leaky-test', 'leaky.c'))
END
    ok 'Meson: the setup succeeds' meson setup b
    recipe Meson >line
    run sh -c "$(cat line)"
    is_int "$status" 1 'Meson: the run fails'
    file_has ../out 'good +OK' 'Meson: the good test passes'
    file_has ../out 'leaky +FAIL .*exit status 23' 'Meson: the leaking test fails'
    is_left Meson
else
    skip meson 'no Meson here'
fi

# ---- automake ----

if command -v automake >/dev/null && command -v autoreconf >/dev/null; then
    enter automake
    cat >configure.ac <<'END'
AC_INIT([leaks], [1])
AM_INIT_AUTOMAKE([foreign])
AC_PROG_CC
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
END
    recipe automake >Makefile.am
    rm good leaky
    ok 'automake: configure succeeds' sh -c 'autoreconf -i && ./configure'
    run make check
    is_int "$status" 2 'automake: check fails'
    file_has ../out '^PASS: good' 'automake: the good test passes'
    file_has ../out '^FAIL: leaky' 'automake: the leaking test fails'
    is_left automake
else
    skip automake 'no automake here'
fi

# ---- pytest ----

# Debian's python has Debian's pytest.
python=$(command -v /usr/bin/python3 || command -v python3 || echo false)
if "$python" -c 'import pytest' 2>/dev/null; then
    enter pytest
    # A block may still be pointed to from a register or a stack: of 20 most are not.
    cat >module.c <<'END'
#include <stdlib.h>

static void *volatile p;

void good(void)
{
    free(malloc(10));
}

void lose(void)
{
    for (int i = 0; i < 20; i++)
        p = malloc(4321);
    p = NULL;
}
END
    ok 'pytest: the module is built' "${CC:-gcc}" -g -O0 -shared -fPIC -o module.so module.c
    for test in good lose; do
        printf 'import ctypes\n\n\ndef test_%s():\n    ctypes.CDLL("./module.so").%s()\n' \
            "$test" "$test" >"test_$test.py"
    done
    mkdir bin && ln -s "$python" bin/python3
    recipe pytest >line
    run env PATH="$PWD/bin:$PATH" sh -c "$(sed 's|tests/|test_good.py|' line)"
    is_int "$status" 0 'pytest: the good test passes'
    run env PATH="$PWD/bin:$PATH" sh -c "$(sed 's|tests/|test_lose.py|' line)"
    file_has ../out '1 passed' "pytest: the leaking test's own check passes"
    is_int "$status" 23 "pytest: the leaking test's run fails"
    file_has ../err 'definite: lose module\.c:[0-9]+' 'pytest: flame names the line of the module'
else
    skip python3-pytest 'no pytest here'
fi

# ---- bats ----

if command -v bats >/dev/null; then
    enter bats
    recipe bats >leaks.bats
    run bats --tap leaks.bats
    is_int "$status" 1 'bats: the run fails'
    is_str "$(grep -E '^(not )?ok' ../out)" 'ok 1 good
not ok 2 leaky' 'bats: the leaking test fails'
    is_left bats
else
    skip bats 'no bats here'
fi

# ---- go test ----

if command -v go >/dev/null; then
    enter go
    rm ./*.c
    export GOCACHE=$SCRATCH/gocache GOPATH=$SCRATCH/gopath GOFLAGS=-mod=mod GOTOOLCHAIN=local CGO_ENABLED=1
    printf 'module leaks\n\ngo 1.15\n' >go.mod
    recipe go >../all.txt
    # The recipe's first part is the package, its second the tests, its last line the command.
    awk '/^package leaks$/ { part++ } part == 1' ../all.txt >leaks.go
    awk '/^package leaks$/ { part++ } part == 2 && !/^[$]/' ../all.txt >leaks_test.go
    cat >>leaks_test.go <<'END'

func TestGood(t *testing.T) { Good() }
func TestLeaky(t *testing.T) { Lose() }
END
    command=$(sed -n 's/^\$ //p' ../all.txt)
    run sh -c "$command -run Good"
    is_int "$status" 0 'go test: the good test passes'
    run sh -c "$command -run Leaky"
    is_int "$status" 1 'go test: the leaking test fails'
    file_has ../out 'heap scanned at the end of 1 process: leaks.test' 'go test: flame names the checked process'
    file_has ../out '4,321 bytes in 1 block, definite' 'go test: flame reports the leak of C'
else
    skip golang-go 'no go here'
fi

# ---- cargo test ----

# cargo is too large to install for this: tested where it is present.
if command -v cargo >/dev/null && cargo --version >/dev/null 2>&1; then
    enter cargo
    mkdir src
    printf '[package]\nname = "leaks"\nversion = "0.1.0"\nedition = "2018"\n' >Cargo.toml
    cat >src/lib.rs <<'END'
#[cfg(test)]
mod tests {
    #[test]
    fn good() {
        assert_eq!(vec![0u8; 10].len(), 10);
    }

    #[test]
    fn leaky() {
        std::mem::forget(vec![1u8; 4321]);
    }
}
END
    command=$(recipe cargo)
    run sh -c "$command --offline good"
    is_int "$status" 0 'cargo test: the good test passes'
    run sh -c "$command --offline leaky"
    is_int "$((status != 0))" 1 'cargo test: the leaking test fails'
    file_has ../err '4,321 bytes in 1 block, definite: leaks::tests::leaky src/lib\.rs:10 ' \
        'cargo test: flame names the line that leaks'
else
    printf '# cargo is not here: its recipe is not tested\n'
fi

done_testing
