#!/bin/bash
# Functions of Python, JavaScript and Java by name, between native frames (docs/recipes.md).
. "${0%/*}/../lib.sh"
# shellcheck disable=SC2317 # functions are called through ok

# in_order NAME...: whether one stack of out has all of these, in this order.
in_order() {
    local pattern
    pattern=$(printf ';[^;]*%s[^;]*.*' "$@")
    grep -qE "$pattern" out
}

cat >app.js <<'E2'
function leafCall(n) { return Buffer.allocUnsafeSlow(n); }
function middleCall(n) { return leafCall(n); }
function topCall() { const kept = []; for (let i = 0; i < 3000; i++) kept.push(middleCall(1000)); return kept; }
topCall();
E2
if command -v node >/dev/null; then
    run_expect_status 0 'flame mem records node' "$FLAME" mem -q -o js.flame -- \
        node --perf-basic-prof --interpreted-frames-native-stack app.js
    "$FLAME" fold js.flame >out
    ok 'a JavaScript stack has its functions, callers first' in_order 'topCall' 'middleCall' 'leafCall'
    drop_maps js*.flame
    bytes=$(awk '/(top|middle|leaf)Call/ { sum += $NF } END { printf "%.0f", sum }' out)
    ok 'JavaScript functions have all bytes, inlined ones too' test "$bytes" -ge 3000000
    run "$FLAME" mem -o bare.flame -- node app.js
    file_has err 'functions of JavaScript have no names in node: --jit-names has it write them' \
        'the summary says what gives JavaScript functions names'
    NODE_OPTIONS=--no-warnings run_expect_status 0 'flame mem --jit-names records node' \
        "$FLAME" mem --jit-names -o js.flame -- node -e 'console.log(process.env.NODE_OPTIONS)' -r ./app.js
    file_has out '^--no-warnings --perf-basic-prof' '--jit-names adds to the variables of the user'
    file_lacks err 'have no names' 'the summary says nothing of names where there are some'
    run_expect_status 0 'flame off --jit-names records node' "$FLAME" off --jit-names -o off.flame -- node app.js
    file_lacks err 'have no names' 'flame off --jit-names says nothing of names'
    drop_maps js*.flame off*.flame
else
    skip node 'no node'
fi

cat >app.py <<'E2'
def leaf_call(n):
    return bytearray(n)
def middle_call(n):
    return leaf_call(n)
def top_call():
    return [middle_call(1000) for _ in range(1000)]
kept = top_call()
E2
python=
for p in python3 python3.14 python3.13 python3.12; do
    if "$p" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
        python=$p
        break
    fi
done
if [ -n "$python" ]; then
    PYTHONPERFSUPPORT=1 run_expect_status 0 'flame mem records Python' \
        "$FLAME" mem -q -o py.flame -- "$python" app.py
    "$FLAME" fold py.flame >out
    ok 'a Python stack has its functions, callers first' \
        in_order 'py::<module>' 'py::top_call' 'py::middle_call' 'py::leaf_call'
    drop_maps py*.flame
    bytes=$(awk '/py::<module>.*py::leaf_call/ { sum += $NF } END { printf "%.0f", sum }' out)
    ok 'Python functions have all bytes' test "$bytes" -ge 1000000
    is_int "$(grep -c '^[^;]*;py::leaf_call' out)" 0 'no stack begins with a Python function'
    is_int "$(grep -c 'py::leaf_call.*py::leaf_call' out)" 0 'no Python function is there twice'
else
    skip python-perf 'no Python 3.12 or newer'
fi

if command -v perl >/dev/null; then
    run "$FLAME" mem -o perl.flame -- perl -e 'my @kept = map { "x" x 1000 } 1..100'
    file_has err "functions of Perl have no names in perl, whose own frames are here instead" \
        'the summary says whose frames those of a Perl program are'
    run "$FLAME" mem -o sh.flame -- sh -c 'perl -e 1; true'
    file_lacks err 'have no names in perl' 'it says so of the command alone'
    cp "$(command -v perl)" perltidy
    run "$FLAME" mem -o tidy.flame -- ./perltidy -e 1
    file_lacks err 'have no names' 'a program whose name only begins like that of a runtime is none'
else
    skip perl 'no perl'
fi

cat >App.java <<'E2'
import java.nio.ByteBuffer;
public class App {
    static ByteBuffer leafCall(int n) { return ByteBuffer.allocateDirect(n); }
    static ByteBuffer middleCall(int n) { return leafCall(n); }
    public static void main(String[] a) {
        ByteBuffer[] kept = new ByteBuffer[20000];
        for (int i = 0; i < kept.length; i++) kept[i] = middleCall(1000);
    }
}
E2
if command -v javac >/dev/null && javac App.java 2>/dev/null; then
    run_expect_status 0 'flame mem records Java' "$FLAME" mem -q --jit-names -o java.flame -- java -cp . App
    "$FLAME" fold java.flame >out
    ok 'a Java stack has its methods, then the native frames' in_order 'App\.(middle|leaf)Call' 'os::malloc'
else
    skip java 'no Java compiler'
fi
done_testing
