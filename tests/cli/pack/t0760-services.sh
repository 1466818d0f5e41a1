#!/bin/bash
# The lines of docs/services.md do what the page says: each that needs no docker and no Kubernetes is run as it
# stands there, with this test's directories in place of the machine's and with shorter times.
. "${0%/*}/../lib.sh"

page=$ROOT/docs/services.md
chmod 755 "$SCRATCH"
mkdir -p units/app.service.d state traces volume home tmp
chmod 1777 traces
export HOME=$SCRATCH/home

eval "install_run() { ( cd '$ROOT' && ${FLAME_MAKE:-make --no-print-directory} \"\$@\" ); }"
run_expect_status 0 'make install' install_run install MUSL_GCC= DESTDIR="$SCRATCH/dest" PREFIX=/usr/local
cat >app.c <<'C'
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static volatile sig_atomic_t ended;
static void end(int sig) { (void)sig; ended = 1; }
static void *kept[200000];
static void *keep(void) { return malloc(1000); }
int main(void)
{
    int forever = getenv("FOREVER") != NULL;
    signal(SIGTERM, end);
    for (int i = 0; !ended && i < (forever ? 200000 : 100); i++) {
        kept[i] = keep();
        usleep(i % 8 ? 1000 : 10000);
    }
    if (getenv("LOSE"))
        kept[0] = NULL;
    return 0;
}
C
ok 'app is built' "${CC:-gcc}" -g -O0 -fno-inline -o app app.c

# Every line of the page that is a command or a part of a file.
indented() {
    awk '/^## / { title = substr($0, 4) } /^    / { print title "\t" substr($0, 5) }' "$page"
}
indented >all
: >taken

# take SECTION REGEX: the section's lines that match, with this test's directories.
take() {
    title=$1 regex=$2 awk -F '\t' '$1 == ENVIRON["title"] && $2 ~ ENVIRON["regex"]' all | tee -a taken | cut -f 2- |
        sed -e "s|/usr/local/|$SCRATCH/dest/usr/local/|g" -e "s|/usr/bin/app|$SCRATCH/app|g" \
            -e "s|/etc/systemd/system|$SCRATCH/units|g" -e "s|/var/lib/flame|$SCRATCH/state/flame|g" \
            -e "s|/var/tmp/|$SCRATCH/tmp/|g" -e "s|/traces|$SCRATCH/traces|g" -e "s|/out/|$SCRATCH/volume/|g" \
            -e 's/-d 10 /-d 0.5 /' -e 's/-e 10s /-e 50ms /' -e 's/--rotate 1h /--rotate 200ms /' -e 's/--from 1 /--from 0.1 /'
}

# systemctl of this test: it starts the service with what its drop-ins say.
mkdir bin
cat >bin/systemctl <<END
#!/bin/bash
root=$SCRATCH
END
cat >>bin/systemctl <<'END'
all() { cat "$root"/units/app.service.d/*.conf | sed -n "s|^$1=||p" | sed -e 's|%%|\x01|g' -e 's|%N|app|g' -e 's|\x01|%|g'; }
case $1 in
daemon-reload) ;;
restart)
    mapfile -t environment < <(all Environment | sed -e "s|=/usr/local/|=$root/dest/usr/local/|" -e "s|/var/lib/|$root/state/|")
    all StateDirectory | while read -r dir; do mkdir -p "$root/state/$dir"; done
    command=$(all ExecStart | tail -n 1)
    FOREVER=1 env "${environment[@]}" ${command:-"$root/app"} >"$root/journal" 2>&1 &
    echo $! >"$root/main.pid"
    ;;
show) cat "$root/main.pid" ;;
esac
END
chmod +x bin/systemctl
export PATH=$SCRATCH/bin:$SCRATCH/dest/usr/local/bin:$PATH
# stop: as systemd does by default.
stop() {
    kill "$(cat main.pid)"
    until_true is_gone "$(cat main.pid)"
}
exists() { compgen -G "$1" >/dev/null; }
is_gone() { [ ! -e "/proc/$1" ]; }

# ---- systemd, from the start ----

section='systemd, from the start of the service'
take "$section" '^(mkdir|cp|systemctl) ' >start.sh
run_expect_status 0 'systemd: the drop-in is copied and the service starts' bash -e start.sh
until_true exists 'state/flame/app/app.*.flame'
take "$section" '^flame render ' >draw.sh
run_expect_status 0 'systemd: the traces are drawn while the service runs' bash -e draw.sh
file_has live.svg 'keep' 'systemd: the picture has the function that allocates'
like "$(cat units/app.service.d/flame-record.conf)" '^Environment=FLAMEMEM_OPTIONS=.*:max-disk=[0-9]+$' \
    'systemd: the drop-in limits each trace'
take "$section" '^flame watch -e ' >watch.sh
take "$section" '^flame watch --rotate ' >rotate.sh
bash -e watch.sh >watch.out 2>&1 &
watch=$!
bash -e rotate.sh >rotate.out 2>&1 &
rotate=$!
until_true test -s tmp/app.part0002.flame
stop
wait "$watch"
is_int "$?" 0 'systemd: flame watch takes moments until the service ends'
ok 'systemd: the moments are beside the trace' exists 'state/flame/app/*.moments'
wait "$rotate"
is_int "$?" 0 'systemd: flame watch writes parts until the service ends'

rm units/app.service.d/*.conf
take "$section" '^(\[Service\]|[A-Za-z]+=)' >units/app.service.d/flame-mem.conf
if command -v systemd-analyze >/dev/null; then
    printf '[Unit]\nDescription=A service\n[Service]\nExecStart=/bin/true\n' >units/app.service
    SYSTEMD_LOG_LEVEL=info run_expect_status 0 'systemd-analyze accepts the drop-in with flame mem' \
        systemd-analyze verify --man=no "$PWD/units/app.service"
    is_str "$(grep -E 'app\.service|flame' err)" '' 'systemd-analyze prints nothing on it'
else
    skip systemd 'there is no systemd-analyze'
fi
is_str "$(sed -n 's/=.*//p' units/app.service.d/flame-mem.conf | sort | xargs)" \
    'ExecStart ExecStart KillMode NotifyAccess StateDirectory TimeoutStopSec' 'the drop-in with flame mem has these keys'
systemctl restart app
sleep 0.5
stop
file_has journal '^flame: app: allocated ' 'systemd: the summary of flame mem is in the journal'
take "$section" '^flame diff ' >diff.sh
run_expect_status 0 'systemd: growth between moments is drawn' bash -e -o pipefail diff.sh
file_has grown.svg 'keep' 'systemd: the picture of growth has the function that allocates'

# ---- a service that runs ----

section='A service that runs'
FOREVER=1 ./app &
app=$!
echo $app >main.pid
for what in 'mem -p' 'off -p' 'off --no-stops'; do
    rm -f memory.svg waits.svg
    take "$section" "^flame $what" >command.sh
    run_expect_status 0 "a service that runs: flame $what" bash -e command.sh
    ok "a service that runs: flame $what has a picture" sh -c 'test -s memory.svg || test -s waits.svg'
done

# ---- docker and Kubernetes ----

# The options of docker and kubectl are compared with those that are known; what they run in the container
# is run.
options() { tr ' ' '\n' | sed -n 's/^\(--*[a-z][a-z-]*\).*/\1/p' | LC_ALL=C sort -u | xargs; }
section='docker'
take "$section" '^docker ' >docker
is_str "$(sed 's/ flame [a-z]* .*//' docker | options)" \
    '--cap-add --pid --rm -e -f -t -v' 'docker: options that docker has'
is_str "$(sed -n 's/^docker build -f \([^ ]*\) .*/\1/p' docker)" packaging/Containerfile 'docker: the image has its recipe'
while read -r command; do
    rm -f volume/*
    run_expect_status 0 "docker: $command" bash -e -c "${command/-p 1/-p $app}"
    ok "docker: $command has a picture" exists 'volume/*.svg'
done < <(sed -n 's/^docker run .* \(flame [mo][a-z]* .*\)/\1/p' docker)
# A container has files of its own: another program has the path of its program here.
mkdir image
cp /bin/true image/app
# shellcheck disable=SC2016 # the inner shell's
contained() { exec unshare -m sh -c 'mount -t tmpfs none image && cp app image/app && exec "$1/app"' - "$SCRATCH/image"; }
runs_app() { cmp -s "/proc/$1/exe" app; }
if unshare -m mount -t tmpfs none image 2>/dev/null; then
    FOREVER=1 contained &
    inside=$!
    until_true runs_app $inside
    run_expect_status 0 "docker: flame mem -p of a container's process" flame mem -q -p $inside -d 0.3 -o inside.svg
    file_has inside.svg 'keep' "docker: functions have the names of the container's files"
    run_expect_status 0 "docker: a recording of a container's process" flame mem -q -p $inside -d 0.3 -o inside.flame
    run_expect_status 0 "docker: flame off -p of a container's process" flame off -q -p $inside -d 0.3 -o inside.folded
    file_has inside.folded ';main;usleep;' "docker: waits have the names of the container's files"
    kill $inside
    wait $inside 2>/dev/null
    run flame fold inside.flame
    file_has out ';main;keep ' 'docker: a recording has these names when the container has ended'
else
    skip not-root 'only root can mount a tmpfs'
fi
environment=$(sed -n 's/.* -e LD_PRELOAD=.* -e \(FLAMEMEM_OPTIONS=[^ ]*\) .*/\1/p' docker)
run_expect_status 0 'docker: the variables record' env LD_PRELOAD="$SCRATCH/dest/usr/local/lib/flame/libflamemem.so" \
    "$environment" ./app
ok 'docker: the trace is in the volume' exists 'traces/app.*.flame'
kill $app
wait $app 2>/dev/null

section='Kubernetes'
take "$section" '^kubectl ' >kubectl
is_str "$(sed 's/ -- .*//' kubectl | options)" \
    '--custom --image --target -c -f' 'Kubernetes: options that kubectl has'
while read -r manifest; do
    ok "Kubernetes: there is $manifest" test -s "$ROOT/$manifest"
done < <(grep -oE 'packaging/kubernetes/[a-z.]+' kubectl | sort -u)
mv tmp/app.part*.flame traces/
for part in traces/app.part*.flame; do mv "$part" "traces/app.1.1.${part#traces/app.}"; done
inner=$(sed -n "s/^kubectl exec .* sh -c '\(.*\)' >.*/\1/p" kubectl)
run_expect_status 0 'Kubernetes: the parts of the sidecar are drawn' sh -c "$inner"
file_has out '<svg' 'Kubernetes: and are a picture'
FOREVER=1 ./app &
app=$!
inner=$(sed -n "s/^kubectl debug .* sh -c '\(.*\); sleep 600'$/\1/p" kubectl)
run_expect_status 0 'Kubernetes: the command of the ephemeral container records' \
    sh -c "$(sed -e "s/-p 1 /-p $app /" -e "s|/tmp/|$SCRATCH/tmp/|" <<<"$inner")"
ok 'Kubernetes: and has a picture' test -s tmp/waits.svg
kill $app
wait $app 2>/dev/null

# ---- a container without capabilities ----

# All processes of a pid namespace have a filter that refuses ptrace, process_vm_readv and perf_event_open, and run
# as a user without capabilities.
section='A container without capabilities'
is_str "$(take "$section" '^COPY ')" "$(grep '^# .* COPY' "$ROOT/packaging/Containerfile" | sed "s|^# *||; s|/usr/local |/usr/local |")" \
    'a container: the line of the image'
take "$section" '^(export|exec) ' >preload.sh
take "$section" '^flame mem ' >mem.sh
take "$section" '^flame leak ' >leak.sh
cat >deny.py <<'END'
import ctypes, os, struct, sys
prog = [(0x20, 0, 0, 0)]
for number in (101, 298, 310):
    prog += [(0x15, 0, 1, number), (6, 0, 0, 0x50001)]
prog += [(6, 0, 0, 0x7fff0000)]
code = b"".join(struct.pack("HBBI", *i) for i in prog)
buf = ctypes.create_string_buffer(code)
fprog = struct.pack("HxxxxxxQ", len(prog), ctypes.addressof(buf))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, fprog, 0, 0) == 0
os.execvp(sys.argv[1], sys.argv[1:])
END
container() {
    python3 deny.py unshare -pf --mount-proc \
        setpriv --bounding-set=-all --inh-caps=-all --reuid=65534 --regid=65534 --clear-groups "$@"
}
if container true 2>/dev/null; then
    rm -f traces/*
    run_expect_status 0 'a container: the recorder alone' container sh -e preload.sh
    ok 'a container: the recorder alone leaves a trace' exists 'traces/app.*.flame'
    run_expect_status 0 'a container: flame mem' container sh -e mem.sh
    run_expect_status 0 'a container: its recording is drawn' flame render -o container.svg traces/memory.flame
    file_has container.svg 'keep' 'a container: the picture has the function that allocates'
    run_expect_status 0 'a container: flame leak' container sh -e leak.sh
    LOSE=1 run_expect_status 23 'a container: flame leak finds the leak' container sh -e leak.sh
    run container flame off -o "$SCRATCH/traces/waits.svg" -- "$SCRATCH/app"
    file_has err 'a seccomp filter over this flame forbids ptrace' 'a container: flame off says why it cannot'
else
    skip not-root 'only root can make a container'
fi

# ---- cron ----

section='cron'
take "$section" '^[0-9]+ [0-9]+ ' >table
is_int "$(wc -l <table)" 2 'cron: two lines'
# cron LINE: as cron runs it: the first % that is not behind a backslash would end the command.
cron() {
    local command
    command=$(cut -d ' ' -f 6- <<<"$1")
    [[ ! ${command//\\%/} = *%* ]] || echo 'a % ends the command'
    env -i HOME="$HOME" LOGNAME=user SHELL=/bin/sh PATH=/usr/bin:/bin ${LOSE:+LOSE=1} /bin/sh -c "${command//\\%/%}"
}
for line in 1 2; do
    run_expect_status 0 "cron: line $line" cron "$(sed -n "${line}p" table)"
    is_str "$(cat out err)" '' "cron: line $line mails nothing"
done
ok 'cron: the recording is in HOME' test -s "home/nightly-$(date +%F).flame"
LOSE=1 run_expect_status 23 'cron: a leak has status 23' cron "$(sed -n 2p table)"
file_has err 'leak' 'cron: a leak is mailed'
cd home || exit 1
cp nightly-*.flame nightly-2026-01-01.flame
cp nightly-2026-01-01.flame nightly-2026-01-02.flame
cd ..
take "$section" '^flame diff ' >diff.sh
run_expect_status 0 'cron: two nights are compared' bash -e -o pipefail -c "cd '$HOME' && . ../diff.sh"

# ---- CI ----

section='CI'
mkdir ci
{ take "$section" '^flame ' && take "$section" '^if ' && echo 'cp alloc.folded main.folded'; } >gates.sh
for pass in first second; do
    run_expect_status 0 "CI: the $pass run succeeds" bash -e -o pipefail -c 'cd ci && . ../gates.sh'
    ok "CI: the $pass run has a picture" test -s ci/memory.svg
done
ok 'CI: the second run has the difference to main' test -s ci/difference.svg
LOSE=1 run_expect_status 23 'CI: the leak gate fails' bash -e -o pipefail -c 'cd ci && . ../gates.sh'
# The recipes have the gates that the page shows.
for recipe in github gitlab; do
    while IFS=$'\t' read -r _ line; do
        # The recipes name the command ./app, and options of their service.
        pattern=$(sed -e 's|/usr/bin/app|./app|' -e 's|^flame leak -q|flame leak|' -e 's|app\.flame$|app*.flame|' <<<"$line")
        [ "${pattern#flame leak}" != "$pattern" ] && pattern='flame leak -q'
        ok "CI: $recipe.yml has: $pattern" grep -qF -- "$pattern" "$ROOT/packaging/ci/$recipe.yml"
    done < <(grep $'^CI\t' all)
done

# ---- the whole page ----

take '' '^flame doctor$' >doctor.sh
run_expect_status 0 'flame doctor runs' bash -e doctor.sh
is_str "$(sort -u all | grep -vxFf taken)" '' 'each line of the page is run or checked'
# Messages that the page explains are those of the sources.
is_str "$(sed -n 's/^| `\([^`]*\)`.*/\1/p' "$page" | while read -r message; do
    case $message in
    'cannot be preloaded' | 'Read-only file system') continue ;;
    esac
    grep -rqF -- "$(sed -e 's/ N$/ /' -e 's| /proc/.*||' -e 's/ is [0-9]$/ is /' <<<"$message")" \
        "$ROOT"/tracer "$ROOT"/driver "$ROOT"/preload "$ROOT"/packaging || echo "$message"
done)" '' 'messages that the page explains exist'
done_testing
