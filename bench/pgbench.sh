#!/bin/bash
# pgbench.sh: slowdown of a PostgreSQL server under flame off, beside strace.
#
#     make bench-inside
#
# `pgbench -S` with four clients for SECONDS (3), over a unix socket, on a cluster in a temporary
# directory: transactions a second, the median, the smallest and the largest, then how many times as many
# the plain server did, turn by turn. ROUNDS (5) turns. As root the server runs as the user nobody.
# shellcheck source=bench/lib.sh
. "${0%/*}/lib.sh"

for bin in /usr/lib/postgresql/*/bin; do :; done
if [ ! -x "$bin/postgres" ] || [ ! -x "$bin/pgbench" ]; then
    echo 'no PostgreSQL to measure: apt-get install postgresql postgresql-contrib'
    exit 0
fi
seconds=${SECONDS_EACH:-3}
[ -z "$tiny" ] || seconds=1 rounds=1
as() { "$@"; }
if [ "$(id -u)" = 0 ]; then
    chown nobody "$dir"
    chmod 755 "$dir"
    as() { setpriv --reuid nobody --regid nogroup --clear-groups -- "$@"; }
fi
# The checkout may lie where only root can go.
cp "$flame" "${flame%/*}"/libflame{wait,gate}.so "$dir"
cd "$dir"
as "$bin/initdb" -D "$dir/data" -U flame --auth=trust --no-sync >log 2>&1
export PGHOST=$dir PGUSER=flame PGDATABASE=postgres
strace=$(type -P strace || :)
filled=

serve() { # NAME COMMAND...: a line of $dir/NAME
    local name=$1 server
    shift
    as "$@" "$bin/postgres" -D "$dir/data" -k "$dir" -c listen_addresses= -c fsync=off >>log 2>&1 &
    server=$!
    until "$bin/pg_isready" -q; do
        kill -0 $server
        sleep 0.05
    done
    [ -n "$filled" ] || "$bin/pgbench" -q -i -s 1 >>log 2>&1
    filled=1
    "$bin/pgbench" -n -S -c 4 -j 1 -T "$seconds" 2>>log | sed -n 's/^tps = \([0-9.]*\).*/\1/p' >>"$name"
    as "$bin/pg_ctl" -D "$dir/data" -m fast -w stop >>log 2>&1
    wait $server || :
}

line() { # NAME WHAT
    [ -s "$1" ] || return 0
    echo "$(column "$1" 1) $(paste -d' ' plain "$1" | awk '{ print $1 / $2 }' | spread)" |
        what=$2 awk '{ printf "  %-28s %7.0f a second  (%.0f to %.0f)   %.2fx (%.2f to %.2f)\n",
            ENVIRON["what"], $1, $2, $3, $4, $5, $6 }'
}

for ((i = 0; i < rounds; i++)); do
    serve plain
    serve inside ./flame off --in-process -q -o data/x.flame --
    serve off ./flame off --no-in-process -q -o data/x.flame --
    [ -z "$strace" ] || serve strace "$strace" -f --seccomp-bpf -o /dev/null \
        -e trace=futex,read,write,recvfrom,sendto,poll,select,epoll_wait
done
echo 'pgbench -S, four clients'
line plain plain
line inside 'flame off --in-process'
line off 'flame off --no-in-process'
line strace 'strace, no stacks'
uptime
