#!/bin/bash
# A gate never passes silently: unchecked processes are reported, with -q, too, and the run has its own
# status: always if the command itself is unchecked, for other processes unless --allow-unchecked.
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
    fits leak.json l.json "$1: leak.json is valid"
    fits sarif.json l.sarif "$1: SARIF is valid"
    fits codequality.json l.gitlab "$1: Code Quality is valid"
    if command -v xmllint >/dev/null; then
        ok "$1: JUnit is valid" xmllint --noout --nonet --schema "$schemas/junit.xsd" l.xml
    else
        skip libxml2-utils 'no xmllint'
    fi
}

# ---- all processes are checked ----

gate 0 'flame leak with all processes checked ends with status 0' -- sh -c './keeper hold:10; exec ./keeper hold:10'
is_str "$(cat err)" '' 'flame leak -q with all processes checked prints nothing'
is_str "$(get l.json 'r["unchecked"], r["command_checked"]')" "('', True)" \
    'leak.json with all processes checked names none'
file_has l.tap '^ok 2 - sh: leaks no memory$' 'TAP with all processes checked has an ordinary point'
is_str "$(get l.sarif '"toolExecutionNotifications" in r["runs"][0]["invocations"][0]') $(wc -c <l.github)" 'False 0' \
    'SARIF and GitHub with all processes checked have no notification'

# ---- the command itself ----

# Its library is gone from the environment of what leaks.
gate 24 'flame leak of env -i ends with status 24' -- env -i ./leakers
file_has err 'not recorded: leakers \(started with an environment without the recorder\)' \
    'env -i: the unrecorded program is named'
file_has err '^flame: leak: the command itself was not checked: leakers \(started with an env.*\), env [0-9]+ ' \
    'env -i: the verdict says that the command was not checked'
fit_all 'env -i'
like "$(get l.json 'r["unchecked"]')" '^leakers \(started with an environment .*\), env [0-9]+ ' \
    'env -i: JSON names the unchecked program'
is_str "$(get l.json 'r["command_checked"]')" False 'env -i: JSON says that the command was not checked'
file_has l.tap '^ok 2 - env: leaks no memory # SKIP not checked: leakers \(started' \
    'env -i: TAP skips the point'
file_has l.xml '<error type="unchecked" message="not checked: leakers \(started' 'env -i: JUnit has an error'
file_has l.xml 'failures="0" errors="1"' 'env -i: JUnit counts the error'
like "$(get l.sarif '[(n["level"], n["message"]["text"]) for n in r["runs"][0]["invocations"][0]["toolExecutionNotifications"]]')" \
    "^\[\('error', 'not checked: leakers \(" 'env -i: SARIF has a notification'
file_has l.github '^::error title=not checked in env::leakers \(' 'env -i: GitHub has an error'
is_str "$(get l.gitlab '[(i["check_name"], i["severity"]) for i in r]')" "[('not-checked', 'major')]" \
    'env -i: GitLab has an issue'
gate 24 'flame leak --allow-unchecked of env -i ends with status 24' --allow-unchecked -- env -i ./leakers
file_has err 'the command itself was not checked' '--allow-unchecked does not allow an unchecked command'
run_expect_status 24 'flame leak without -q of env -i ends with status 24' "$FLAME" leak -- env -i ./leakers
is_int "$(grep -c 'the command itself was not checked' err)" 1 'an unchecked command is reported once'
gate 24 'flame leak --live of env -i ends with status 24' --live --max-bytes 1m -- env -i ./leakers
gate 3 'the failure of an unchecked command precedes status 24' -- env -i sh -c 'exit 3'
file_has err 'the command itself was not checked' 'an unchecked command that fails is reported'

# A program that ends without exit, and one whose filter prevents the scan.
gate 137 'flame leak of a killed command ends with status 137' -- sh -c 'kill -9 $$'
file_has err 'the command itself was not checked: sh [0-9]+ \(did not come to exit' \
    'a killed command is reported as unchecked'
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
ok 'the program with a filter is built' "${CC:-gcc}" -g -O0 -o filtered filtered.c
gate 24 'flame leak of a program with a filter ends with status 24' -- ./filtered
file_has err 'the command itself was not checked: filtered [0-9]+ ' \
    'a program with a filter is reported as unchecked'

# ---- --no-follow ----

gate 24 'flame leak --no-follow of a wrapper that executes ends with status 24' --no-follow -- env ./leakers
file_has err 'not recorded: leakers \(left out, as --no-follow says\)' \
    '--no-follow names the program that a wrapper executes'
gate 24 'flame leak --live --no-follow of a wrapper that executes ends with status 24' --live --max-bytes 1m --no-follow -- env ./leakers
gate 0 'flame leak --no-follow of a wrapper that forks ends with status 0' --no-follow -- sh -c './leakers; true'
file_has err '^flame: not recorded: leakers \(left out, as --no-follow says\)$' \
    '--no-follow names the program that a wrapper forks'
like "$(get l.json 'r["not_recorded"]')" 'leakers' '--no-follow: leak.json names the unrecorded program'
gate 0 'flame leak --no-follow of forked children ends with status 0' --no-follow -- ./keeper hold:1 fork keep:20
file_has err '^flame: not recorded: keeper \(left out, as --no-follow says\)$' \
    '--no-follow names forked children'
gate 0 'flame leak --no-follow without children ends with status 0' --no-follow -- ./keeper hold:1
is_str "$(cat err)" '' '--no-follow without children prints nothing'
gate 0 'flame leak --no-follow of a missing program ends with status 0' --no-follow -- \
    "$python" -c 'import subprocess
try: subprocess.run(["./no-such-program"])
except OSError: pass'
unlike "$(cat err)" 'no-such-program' '--no-follow does not name a missing program'

# ---- other processes ----

ok 'the static program is built' \
    "${CC:-gcc}" -static -O0 -pthread -I"$ROOT" -o static "$ROOT/tests/victims/leak/leakers.c"
gate 24 'flame leak with a static child ends with status 24' -- sh -c './static; true'
file_has err '^flame: leak: not all processes were checked: static \(linked statically\); --allow-unchecked lets ' \
    'a static child: the verdict names it'
is_str "$(get l.json 'r["command_checked"]')" True 'a static child: JSON says that the command was checked'
file_has l.tap '^ok 2 - sh: leaks no memory # SKIP not checked: static' 'a static child: TAP skips the point'
file_has l.xml '<error type="unchecked" message="not checked: static' 'a static child: JUnit has an error'
gate 0 'flame leak --allow-unchecked with a static child ends with status 0' --allow-unchecked -- sh -c './static; true'
file_has err '^flame: not recorded: static \(linked statically\)$' \
    '--allow-unchecked reports a static child in spite of -q'
file_lacks err 'not all processes' '--allow-unchecked reports no failure'
fit_all allowed
like "$(get l.json 'r["unchecked"]')" '^static \(linked' '--allow-unchecked: JSON names the static child'
file_has l.tap '^ok 2 - sh: leaks no memory$' '--allow-unchecked: TAP passes'
file_has l.tap '^# not recorded: static' '--allow-unchecked: TAP names the static child in a comment'
file_has l.xml 'failures="0" errors="0"' '--allow-unchecked: JUnit passes'
is_str "$(get l.sarif '[n["level"] for n in r["runs"][0]["invocations"][0]["toolExecutionNotifications"]]')" "['warning']" \
    '--allow-unchecked: SARIF has a warning'
file_has l.github '^::warning title=not checked in sh::static \(' '--allow-unchecked: GitHub has a warning'
is_str "$(get l.gitlab 'len(r)')" 0 '--allow-unchecked: GitLab has no issue'
gate 24 'flame leak with a killed child ends with status 24' -- sh -c './leakers killed; true'
file_has err 'not all processes were checked: leakers [0-9]+ \(did not come to exit' \
    'a killed child is reported as unchecked'
gate 23 'leaks precede an unchecked child: status 23' -- sh -c './static; exec ./leakers'
file_has err 'not recorded: static' 'leaks and an unchecked child: the child is reported'
gate 24 'flame leak --growth with a static child ends with status 24' --growth -- sh -c './static; exec ./growers 12 comes'
file_has err 'not all processes were checked: static' 'flame leak --growth reports an unchecked child'

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    for allowed in '' --allow-unchecked; do
        gate "$([ "$allowed" ] && echo 0 || echo 24)" "flame leak $allowed with a child of another user" ${allowed:+"$allowed"} -- \
            sh -c 'setpriv --reuid 65534 ./leakers; true'
        file_has err 'not recorded: leakers \(another user, who may not write the recording\)' \
            "flame leak $allowed names a child of another user"
    done
    # setpriv keeps its capabilities until it executes the program.
    run "$FLAME" mem -o x.folded -- setpriv --reuid 65534 ./keeper keep:1
    file_has err 'not recorded: keeper \(another user' 'flame mem names a child of another user'
else
    skip not-root 'not root: no other user to be'
fi

done_testing
