#!/usr/bin/env bash
# Methods of Java by name in a JVM that is attached to: --jit-names has jcmd ask it at the end.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
. "$ROOT/tests/cli/attach.sh"
use_own_tmpdir

command -v javac >/dev/null || skip_all java 'no Java compiler'
home=$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")
[ -x "$home/bin/jcmd" ] || skip_all java "no jcmd in $home"

# Small methods that have been compiled before flame comes. "done" is the answer to each word.
cat >App.java <<'E1'
import java.io.*;
import java.nio.ByteBuffer;
public class App {
    static ByteBuffer[] kept = new ByteBuffer[2000];
    static ByteBuffer leafCall(int n) { return ByteBuffer.allocateDirect(n); }
    static void workCall() { for (int i = 0; i < 2000; i++) kept[i] = leafCall(1000); }
    static void dozeCall(int ms) throws Exception { Thread.sleep(ms); }
    public static void main(String[] a) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (int i = 0; i < 400; i++) { if (i % 10 == 0) workCall(); dozeCall(1); }
        for (String word; (word = in.readLine()) != null && !word.equals("quit");) {
            for (int i = 0; i < 100; i++) { workCall(); dozeCall(5); }
            System.out.println("done");
        }
    }
}
E1
run javac App.java
is_int "$status" 0 'the program is compiled'

# runs_java OPTION...: begins it; its methods are compiled when it has answered.
runs_java() {
    begin java -XX:+PreserveFramePointer "$@" -cp . App
    tell work
}

# quits: it ends, as without flame.
quits() {
    tell quit
    exec 7>&- 8<&-
    status=0
    wait "$victim" || status=$?
    is_int "$status" 0 "$1: the program ends as without flame"
    rm -f "/tmp/perf-$victim.map"
}

runs_java
if ! attach --jit-names; then
    why=$(head -1 err)
    quits 'refused'
    grep -q 'CAP_SYS_PTRACE\|ptrace_scope\|seccomp filter over this flame' err && skip_all ptrace "$why"
    diag "$why"
fi
ok 'it works under flame mem -p --jit-names' tell work
leave
is_int "$status" 0 'flame mem -p --jit-names ends with status 0'
file_lacks err 'have no names' 'the summary says nothing of names where there are some'
fview alloc >out
ok 'stacks of memory have methods of Java, callers first' \
    grep -qE ';[^;]*App\.workCall.*;[^;]*Unsafe\.allocateMemory0.*;os::malloc' out
"$FLAME" off --jit-names -p "$victim" -o off.flame 2>err &
flame=$!
until_traced "$victim"
ok 'it works under flame off -p --jit-names' tell work
leave
is_int "$status" 0 'flame off -p --jit-names ends with status 0'
file_lacks err 'have no names' 'the summary of waits says nothing of names either'
"$FLAME" fold off.flame >out
ok 'stacks of waits have methods of Java' grep -qE ';[^;]*App\.dozeCall.*Thread\.sleep' out

rm -f "/tmp/perf-$victim.map"
: >err
"$FLAME" run --jit-names -p "$victim" -o both.flame 2>err &
flame=$!
until_true records_or_ended err
ok 'it works under flame run -p --jit-names' tell work
leave
is_int "$status" 0 'flame run -p --jit-names ends with status 0'
ok 'both have methods of Java' \
    test "$(fview alloc both.flame | grep -c 'App\.workCall')" -gt 0 -a "$(fview off both.flame | grep -c 'App\.dozeCall')" -gt 0
file_lacks err 'have no names' 'the summary of both says nothing of names either'
quits 'names'

# Without --jit-names, and where the JVM refuses jcmd, the recording is whole and one line says why.
runs_java -XX:+DisableAttachMechanism
attach
ok 'it works under flame mem -p' tell work
leave
file_has err 'methods of Java have no names in java: --jit-names has it write them' \
    'flame mem -p says what gives methods names'
attach --jit-names
ok 'a JVM that refuses jcmd works under flame mem -p --jit-names' tell work
leave
is_int "$status" 0 'the recording of a JVM that refuses jcmd is made'
is_int "$(grep -c 'have no names' err)" 1 'one line says that there are no names'
file_has err "^flame: --jit-names: methods of Java have no names in process $victim: jcmd failed \(status 1\)" \
    'that line has the reason'
ok 'its memory is recorded all the same' test "$(sum alloc 'os::malloc')" -ge 1000000
quits 'refusing'

if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    rm -f to from
    mkfifo to from
    unshare -m java -cp . App <to >from 2>victim.err &
    victim=$!
    exec 7>to 8<from
    tell work
    attach --jit-names
    leave
    file_has err "no names in process $victim: it is in a container" 'a JVM in another mount namespace is left'
    quits 'container'
else
    skip pid-namespace 'no namespace of its own'
fi

# Node.js cannot be asked.
if command -v node >/dev/null; then
    node -e 'setInterval(() => Buffer.allocUnsafeSlow(1000), 5)' &
    victim=$!
    run_expect_status 0 'flame off -p --jit-names records node' \
        "$FLAME" off --jit-names -p "$victim" -d 0.5 -o node.flame
    file_has err 'JavaScript have no names in node: start it with --perf-basic-prof --interpreted-frames-native-stack' \
        'a line says what node is started with for names'
    kill "$victim"
    wait "$victim" || true
else
    skip node 'no node'
fi
done_testing
