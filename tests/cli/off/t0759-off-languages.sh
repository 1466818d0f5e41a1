#!/bin/bash
# Waits of JavaScript and Java by the names of their own functions, by the recipe of docs/recipes.md.
. "${0%/*}/../lib.sh"

cat >app.js <<'E3'
const cell = new Int32Array(new SharedArrayBuffer(4));
function leafWait() { Atomics.wait(cell, 0, 0, 20); }
function middleWait() { leafWait(); }
function topWait() { for (let i = 0; i < 10; i++) middleWait(); }
topWait();
E3
if command -v node >/dev/null; then
    run_expect_status 0 'node' "$FLAME" off -q -o js.flame -- \
        node --perf-basic-prof --interpreted-frames-native-stack app.js
    "$FLAME" fold js.flame >out
    file_has out 'topWait[^;]*;.*middleWait[^;]*;.*leafWait[^;]*;.*;futex ' 'functions of JavaScript, callers first'
    waited=$(awk '/topWait.*leafWait/ { sum += $NF } END { printf "%.0f", sum }' out)
    ok "with ten waits of 20 ms ($waited us)" test "$waited" -ge 200000
else
    skip node 'no node'
fi

# HotSpot names what it compiled, which is what ran often.
cat >App.java <<'E3'
import java.util.concurrent.locks.LockSupport;
public class App {
    static void leafWait() { LockSupport.parkNanos(1000); }
    static void middleWait() { leafWait(); }
    public static void main(String[] a) {
        for (int i = 0; i < 20000; i++) middleWait();
    }
}
E3
if command -v javac >/dev/null && javac App.java 2>/dev/null; then
    run_expect_status 0 'Java' "$FLAME" off -q -o java.flame -- java -XX:+PreserveFramePointer \
        -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -cp . App
    "$FLAME" fold java.flame >out
    file_has out 'App\.(middle|leaf)Wait.*;Unsafe_Park;.*;futex ' 'methods of Java, then native ones'
else
    skip java 'no Java compiler'
fi
done_testing
