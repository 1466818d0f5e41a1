#!/bin/bash
# scripts/deps.sh installs by apt what is missing, and waits while another apt is at work.
# With apt's and dpkg's files below $SCRATCH: the machine's own files are unchanged.
. "${0%/*}/../lib.sh"

deps=$ROOT/scripts/deps.sh
table=$(sed -n "/^table='/,/^'/p" "$deps" | cut -d'|' -f1)
is_str "$(sed -e ':join' -e '/\\$/N; s/\\\n//; tjoin' "$ROOT/Makefile" |
    sed -n 's/^[A-Z]*_PKGS *:= *//p' | tr -s ' ' '\n' | sort -u | grep -vFx "$table")" '' \
    'deps.sh without apt looks for each package of the Makefile'

[ "$(id -u)" -eq 0 ] || skip_all not-root 'only root installs packages'
command -v apt-get >/dev/null || skip_all apt 'no apt here'
package=flame-test-package

# An archive with one package, and a system without any.
mkdir -p archive "$package/DEBIAN" "$package/opt" root/{etc/apt/apt.conf.d,etc/apt/preferences.d} \
    root/var/{lib/dpkg/{info,updates,triggers},lib/apt/lists/partial,cache/apt/archives/partial,log/apt}
: >root/var/lib/dpkg/status
printf 'Package: %s\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: a test\n' \
    "$package" >"$package/DEBIAN/control"
: >"$package/opt/$package"
dpkg-deb --build "$package" archive/package.deb >/dev/null
{
    cat "$package/DEBIAN/control"
    printf 'Filename: ./package.deb\nSize: %d\nSHA256: %s\n' "$(stat -c %s archive/package.deb)" \
        "$(sha256sum archive/package.deb | cut -d' ' -f1)"
} >archive/Packages
echo "deb [trusted=yes] file:$SCRATCH/archive ./" >root/etc/apt/sources.list
cat >apt.conf <<END
Dir "$SCRATCH/root/";
Dir::State::status "$SCRATCH/root/var/lib/dpkg/status";
Dir::Bin::Methods "/usr/lib/apt/methods";
Dir::Bin::dpkg "/usr/bin/dpkg";
DPkg::Options { "--root=$SCRATCH/root"; "--log=/dev/null"; };
APT::Sandbox::User "root";
END
export APT_CONFIG=$SCRATCH/apt.conf

# hold FILE: a lock as apt takes it, until the process $holder ends.
hold() {
    rm -f held
    mkfifo held
    python3 -c 'import fcntl, sys, time
f = open(sys.argv[1], "w"); fcntl.lockf(f, fcntl.LOCK_EX); open("held", "w").close(); time.sleep(100)' \
        "$SCRATCH/root/$1" &
    holder=$!
    cat held
}

# says_or_ended TEXT: deps.sh has printed TEXT, or has ended.
says_or_ended() {
    grep -q "$1" err || ! kill -0 "$deps_pid" 2>/dev/null
}

# waits_for LOCK: deps.sh prints that it waits, and continues when the lock is free.
waits_for() {
    rm -rf root/opt
    : >root/var/lib/dpkg/status
    hold "$1"
    "$deps" "$package" >out 2>err &
    local deps_pid=$!
    until_true says_or_ended "it holds $SCRATCH/root/$1"
    ok "deps.sh waits for $1" kill -0 "$deps_pid"
    ok "deps.sh installs nothing while $1 is locked" test ! -e "root/opt/$package"
    kill "$holder"
    wait "$deps_pid"
    is_int "$?" 0 "deps.sh ends with status 0 after $1 is free"
    ok "deps.sh installs after $1 is free" test -e "root/opt/$package"
    is_int "$(grep -c 'waiting for another apt' err)" 1 "deps.sh reports the wait for $1 once"
}

run_expect_status 0 'deps.sh of a missing package ends with status 0' "$deps" "$package"
is_str "$(cat out)" "flame: installing $package" 'deps.sh names the missing package'
is_str "$(cat err)" '' 'deps.sh of a missing package prints no error'
ok 'deps.sh installs the missing package' test -e "root/opt/$package"
for lock in var/lib/dpkg/lock-frontend var/lib/apt/lists/lock var/cache/apt/archives/lock; do
    [ $lock != var/lib/apt/lists/lock ] || rm -f root/var/lib/apt/lists/_*
    waits_for $lock
done

run_expect_status 1 'deps.sh of an unknown package ends with status 1' "$deps" flame-no-such-package
file_has err '^E: Unable to locate package flame-no-such-package' \
    "deps.sh of an unknown package shows apt's message"
file_has err '^flame: apt-get could not install flame-no-such-package' 'deps.sh of an unknown package names it'
done_testing
