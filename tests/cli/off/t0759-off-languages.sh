#!/bin/bash
# Waits of JavaScript and Java have the names of their own functions, with the recipe of docs/recipes.md.
. "${0%/*}/../lib.sh"

cat >app.js <<'E3'
const cell = new Int32Array(new SharedArrayBuffer(4));
function leafWait() { Atomics.wait(cell, 0, 0, 20); }
function middleWait() { leafWait(); }
function topWait() { for (let i = 0; i < 10; i++) middleWait(); }
topWait();
E3
if command -v node >/dev/null; then
    run_expect_status 0 'flame off records node' "$FLAME" off -q -o js.flame -- \
        node --perf-basic-prof --interpreted-frames-native-stack app.js
    "$FLAME" fold js.flame >out
    drop_maps js.flame
    file_has out 'topWait[^;]*;.*middleWait[^;]*;.*leafWait[^;]*;.*;futex ' \
        'a JavaScript stack has its functions, callers first'
    waited=$(awk '/topWait.*leafWait/ { sum += $NF } END { printf "%.0f", sum }' out)
    ok "JavaScript waits ten times for 20 ms ($waited us)" test "$waited" -ge 200000
else
    skip node 'no node'
fi

# HotSpot writes names only of methods that it compiled: those that ran often.
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
    run_expect_status 0 'flame off records Java' \
        "$FLAME" off -q -o java.flame -- java -XX:+PreserveFramePointer \
        -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -cp . App
    "$FLAME" fold java.flame >out
    drop_maps java.flame
    file_has out 'App\.(middle|leaf)Wait.*;Unsafe_Park;.*;futex ' \
        'a Java stack has its methods, then the native frames'
else
    skip java 'no Java compiler'
fi
done_testing
