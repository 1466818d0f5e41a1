#!/bin/bash
# A gate never passes in silence: who was not looked at is told, -q or not, and the run has a status of its
# own then: always if that is the command itself, for other processes unless --allow-unchecked.
. "${0%/*}/../lib.sh"
python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'
compile_victim leakers -O0 -pthread
compile_victim keeper
compile_victim growers -O1 -pthread
schemas=$ROOT/tests/cli/schemas

# gate STATUS NAME ARGUMENT...: flame leak -q with reports, and its status.
gate() {
    local want=$1 name=$2
    shift 2
    run_expect_status "$want" "$name" "$FLAME" leak -q -o l.folded --json l.json --tap l.tap --junit l.xml \
        --sarif l.sarif --github l.github --gitlab l.gitlab "$@"
}
get() {
    "$python" -B -c 'import json, sys
with open(sys.argv[1], encoding="utf-8") as f: r = json.load(f)
print(eval(sys.argv[2]))' "$1" "$2" 2>&1
}
fits() {
    if "$python" -B -c 'import jsonschema' 2>/dev/null; then
        is_str "$("$python" -B "$ROOT/tests/cli/schema_check.py" "$schemas/$1" "$2" 2>&1)" '' "$3"
    else
        skip python3-jsonschema 'no python3-jsonschema'
    fi
}
fit_all() {
    fits leak.json l.json "$1: leak.json fits its schema"
    fits sarif.json l.sarif "$1: SARIF fits"
    fits codequality.json l.gitlab "$1: Code Quality fits"
    if command -v xmllint >/dev/null; then
        ok "$1: JUnit fits" xmllint --noout --nonet --schema "$schemas/junit.xsd" l.xml
    else
        skip libxml2-utils 'no xmllint'
    fi
}

# ---- all were looked at ----

gate 0 'all were looked at' -- sh -c './keeper hold:10; exec ./keeper hold:10'
is_str "$(cat err)" '' 'and nothing is said'
is_str "$(get l.json 'r["unchecked"], r["command_checked"]')" "('', True)" 'nor by JSON'
file_has l.tap '^ok 2 - sh: leaks no memory$' 'TAP: a point like any'
is_str "$(get l.sarif '"toolExecutionNotifications" in r["runs"][0]["invocations"][0]') $(wc -c <l.github)" 'False 0' \
    'nor by others'

# ---- the command itself ----

# Its library is gone from the environment of what leaks.
gate 24 'env -i' -- env -i ./leakers
file_has err 'not recorded: leakers \(started with an environment without the recorder\)' 'env -i: who was not recorded'
file_has err '^flame: leak: the command itself was not checked: leakers \(started with an env.*\), env [0-9]+ ' \
    'env -i: the verdict'
fit_all 'env -i'
like "$(get l.json 'r["unchecked"]')" '^leakers \(started with an environment .*\), env [0-9]+ ' 'JSON says who'
is_str "$(get l.json 'r["command_checked"]')" False 'and that it is the command'
file_has l.tap '^ok 2 - env: leaks no memory # SKIP not checked: leakers \(started' 'TAP: skipped'
file_has l.xml '<error type="unchecked" message="not checked: leakers \(started' 'JUnit: an error'
file_has l.xml 'failures="0" errors="1"' 'which is counted'
like "$(get l.sarif '[(n["level"], n["message"]["text"]) for n in r["runs"][0]["invocations"][0]["toolExecutionNotifications"]]')" \
    "^\[\('error', 'not checked: leakers \(" 'SARIF: a notification'
file_has l.github '^::error title=not checked in env::leakers \(' 'GitHub: an error'
is_str "$(get l.gitlab '[(i["check_name"], i["severity"]) for i in r]')" "[('not-checked', 'major')]" 'GitLab: an issue'
gate 24 'env -i, --allow-unchecked' --allow-unchecked -- env -i ./leakers
file_has err 'the command itself was not checked' 'is for other processes'
run_expect_status 24 'env -i, without -q' "$FLAME" leak -- env -i ./leakers
is_int "$(grep -c 'the command itself was not checked' err)" 1 'is told once'
gate 24 'env -i, --live' --live --max-bytes 1m -- env -i ./leakers
gate 3 'its own failure comes first' -- env -i sh -c 'exit 3'
file_has err 'the command itself was not checked' 'and it is told'

# A program that ends by no exit, and one whose filter lets nobody look.
gate 137 'killed' -- sh -c 'kill -9 $$'
file_has err 'the command itself was not checked: sh [0-9]+ \(did not come to exit' 'killed: it is told'
cat >filtered.c <<'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *volatile p;

/* A sandbox of its own in which no thread can be made, or sent a signal. */
int main(void)
{
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_brk, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog filter = {sizeof f / sizeof *f, f};

    p = malloc(4321);
    p = NULL;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return 1;
    return 0;
}
END
ok 'a program with a filter' "${CC:-gcc}" -g -O0 -o filtered filtered.c
gate 24 'a filter of its own' -- ./filtered
file_has err 'the command itself was not checked: filtered [0-9]+ ' 'a filter: it is told'

# ---- --no-follow ----

gate 24 '--no-follow, a wrapper that executes' --no-follow -- env ./leakers
file_has err 'not recorded: leakers \(left out, as --no-follow says\)' 'names the program'
gate 24 'the same, --live' --live --max-bytes 1m --no-follow -- env ./leakers
gate 0 '--no-follow, a wrapper that forks' --no-follow -- sh -c './leakers; true'
file_has err '^flame: not recorded: leakers \(left out, as --no-follow says\)$' 'is as asked, and told'
like "$(get l.json 'r["not_recorded"]')" 'leakers' 'in reports, too'
gate 0 '--no-follow, forked children' --no-follow -- ./keeper hold:1 fork keep:20
file_has err '^flame: not recorded: keeper \(left out, as --no-follow says\)$' 'are told'
gate 0 '--no-follow, nobody is left out' --no-follow -- ./keeper hold:1
is_str "$(cat err)" '' 'and nothing is said'
gate 0 '--no-follow, programs that are not there' --no-follow -- \
    "$python" -c 'import subprocess
try: subprocess.run(["./no-such-program"])
except OSError: pass'
unlike "$(cat err)" 'no-such-program' 'are none'

# ---- other processes ----

ok 'a static program' "${CC:-gcc}" -static -O0 -pthread -I"$ROOT" -o static "$ROOT/tests/victims/leak/leakers.c"
gate 24 'a static child' -- sh -c './static; true'
file_has err '^flame: leak: not all processes were checked: static \(linked statically\); --allow-unchecked lets ' \
    'a static child: the verdict'
is_str "$(get l.json 'r["command_checked"]')" True 'the command was'
file_has l.tap '^ok 2 - sh: leaks no memory # SKIP not checked: static' 'TAP: skipped'
file_has l.xml '<error type="unchecked" message="not checked: static' 'JUnit: an error'
gate 0 'that is allowed' --allow-unchecked -- sh -c './static; true'
file_has err '^flame: not recorded: static \(linked statically\)$' 'but told, -q or not'
file_lacks err 'not all processes' 'and no failure'
fit_all allowed
like "$(get l.json 'r["unchecked"]')" '^static \(linked' 'JSON says it'
file_has l.tap '^ok 2 - sh: leaks no memory$' 'TAP: passes'
file_has l.tap '^# not recorded: static' 'with a comment'
file_has l.xml 'failures="0" errors="0"' 'JUnit: passes'
is_str "$(get l.sarif '[n["level"] for n in r["runs"][0]["invocations"][0]["toolExecutionNotifications"]]')" "['warning']" \
    'SARIF: a warning'
file_has l.github '^::warning title=not checked in sh::static \(' 'GitHub: a warning'
is_str "$(get l.gitlab 'len(r)')" 0 'GitLab: no issue'
gate 24 'a child that is killed' -- sh -c './leakers killed; true'
file_has err 'not all processes were checked: leakers [0-9]+ \(did not come to exit' 'is named'
gate 23 'leaks come first' -- sh -c './static; exec ./leakers'
file_has err 'not recorded: static' 'and all else is told'
gate 24 'passes, and a static child' --growth -- sh -c './static; exec ./growers 12 comes'
file_has err 'not all processes were checked: static' 'is told'

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    for allowed in '' --allow-unchecked; do
        gate "$([ "$allowed" ] && echo 0 || echo 24)" "another user $allowed" ${allowed:+"$allowed"} -- \
            sh -c 'setpriv --reuid 65534 ./leakers; true'
        file_has err 'not recorded: leakers \(another user, who may not write the recording\)' 'is told'
    done
    # It keeps its capabilities until it executes the program.
    run "$FLAME" mem -o x.folded -- setpriv --reuid 65534 ./keeper keep:1
    file_has err 'not recorded: keeper \(another user' 'flame mem says it, too'
else
    skip not-root 'not root: no other user to be'
fi

done_testing
