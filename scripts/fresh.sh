#!/bin/bash
# fresh.sh [-u] [-d DIR] RELEASE [COMMAND]: runs COMMAND, by default `make demo && make
# check`, in a clone of this repository on a Debian RELEASE (bookworm, trixie, ...) that
# has nothing but a minimal system, git, make and sudo: what a stranger's machine has. So
# the machine we work on can hide nothing that the README forgets.
#
#   -u      as an ordinary user who has sudo, not as root
#   -d DIR  the system is made in DIR, if it is not there yet, and stays; without -d it is
#           made in $TMPDIR and removed
#
# Wants root, debootstrap and an apt that knows a Debian archive: that archive, how apt
# reaches it, and the certificates and proxies that the environment names are all that is
# taken over. The repository's last commit is what is cloned. Ends with COMMAND's exit
# status, or with 77 and one line where no such system can be made.
set -euo pipefail

here=$(cd "${0%/*}/.." && pwd -P)
who=root home=/root system=
while getopts ud: option; do
    case $option in
    u) who=tester home=/home/tester ;;
    d) system=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
release=${1:?usage: fresh.sh [-u] [-d DIR] RELEASE [COMMAND]}
command=${2:-make demo && make check}

cannot() {
    echo "flame: no fresh $release here: $*" >&2
    exit 77
}

archive() {
    # shellcheck disable=SC2016 # apt's own names
    apt-get indextargets --format '$(LABEL) $(SITE)' 'Created-By: Packages' |
        sed -n 's/^Debian //p' | sed -n 1p
}

# Certificates and proxies that the environment names, as NAME=VALUE.
carried() {
    env | grep -E '^((http|https|no)_proxy|(HTTP|HTTPS|NO)_PROXY|SSL_CERT_FILE|NODE_EXTRA_CA_CERTS|NPM_CONFIG_[A-Za-z_]+)=' ||
        true
}

take_over_network() {
    local name
    # The clients' default certificates, and those that the environment names.
    for name in /etc/ssl/certs/ca-certificates.crt /etc/npmrc \
        $(carried | sed -n 's/.*=\(\/.*\)/\1/p') $(sed -n 's/^cafile *= *//p' /etc/npmrc 2>/dev/null); do
        [ ! -f "$name" ] || install -D -m 644 "$name" "$system$name"
    done
    apt-config dump | grep -E '^Acquire::(Check-|https?::|Retries|Force)' \
        >"$system/etc/apt/apt.conf.d/99fresh" || true
    printf 'Defaults env_keep += "%s"\n' "$(carried | sed 's/=.*//' | tr '\n' ' ')" \
        >"$system/etc/sudoers.d/fresh"
}

make_system() {
    local from script=
    from=$(archive)
    [ -n "$from" ] || { apt-get -qq update >/dev/null 2>&1; from=$(archive); }
    [ -n "$from" ] || cannot 'apt knows no Debian archive'
    # A release that is younger than debootstrap is made as unstable is.
    [ -e "/usr/share/debootstrap/scripts/$release" ] || script=/usr/share/debootstrap/scripts/sid
    debootstrap --variant=minbase --include=ca-certificates,git,make,sudo "$release" "$system" \
        "$from" ${script:+"$script"} >"$log" 2>&1 </dev/null || cannot "debootstrap failed: $(tail -n 1 "$log")"
    take_over_network
    # No daemon of a package starts; nothing is flushed to a disk that goes away.
    printf '#!/bin/sh\nexit 101\n' >"$system/usr/sbin/policy-rc.d"
    chmod +x "$system/usr/sbin/policy-rc.d"
    echo force-unsafe-io >"$system/etc/dpkg/dpkg.cfg.d/fresh"
    chroot "$system" useradd -m -s /bin/bash tester
    echo 'tester ALL=(ALL) NOPASSWD: ALL' >>"$system/etc/sudoers.d/fresh"
    touch "$system/.fresh"
}

# Mounts and processes end with the command: both have a namespace of their own.
in_system() {
    # shellcheck disable=SC2016 # for the shell inside
    unshare --mount --pid --fork --kill-child bash -euc '
        system=$1 who=$2
        mount --make-rprivate /
        mount -t proc proc "$system/proc"
        mount --rbind /sys "$system/sys"
        mount --rbind /dev "$system/dev"
        for file in /etc/resolv.conf /etc/hosts; do
            [ ! -e $file ] || cp -L $file "$system$file"
        done
        shift 2
        exec env -i "${@:2}" chroot --userspec="$who:$who" "$system" bash -c "cd && cd src && $1"
    ' fresh "$system" "$who" "$1" HOME="$home" USER="$who" LANG=C.UTF-8 ${CI:+CI="$CI"} \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${carry[@]}" </dev/null
}

[ "$(id -u)" -eq 0 ] || cannot 'only root can make one'
command -v debootstrap >/dev/null || cannot 'debootstrap is not installed'
unshare --mount --pid --fork true 2>/dev/null || cannot 'mounting is not permitted'
mapfile -t carry < <(carried)

log=$(mktemp)
if [ -z "$system" ]; then
    system=$(mktemp -d "${TMPDIR:-/var/tmp}/flame-fresh.XXXXXX")
    trap 'rm -rf --one-file-system "$system" "$log"' EXIT
else
    mkdir -p "$system"
    system=$(cd "$system" && pwd -P)
    trap 'rm -f "$log"' EXIT
fi
[ -e "$system/.fresh" ] || make_system
if [ ! -e "$system$home/src" ]; then
    git -c safe.directory='*' clone -q "$here" "$system$home/src"
    chroot "$system" chown -R "$who:$who" "$home/src"
fi
in_system "$command"
