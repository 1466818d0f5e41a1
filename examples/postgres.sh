#!/usr/bin/env bash
# postgres.sh [OUT]: shows which processes PostgreSQL's backends wait for when eight clients of
# pgbench update one row. A cluster of its own in a temporary directory, on a unix socket; removed
# at the end. Attaches `flame off` to the server's backends for a few seconds and leaves the chain
# graph in OUT (postgres-chain.svg).
#
# Needs Debian's packages postgresql and postgresql-contrib. PostgreSQL does not run as
# root: as root the server is run by the user nobody.
set -eu

flame=${FLAME:-${0%/*}/../build/flame}
flame=$(realpath "$flame")
out=$(realpath -m "${1:-postgres-chain.svg}")
seconds=${SECONDS_TRACED:-5}
for bin in /usr/lib/postgresql/*/bin; do :; done
[ -d "$bin" ] || bin=$(dirname "$(command -v pg_ctl || echo /pg_ctl)")
for tool in initdb pg_ctl psql pgbench; do
    [ -x "$bin/$tool" ] || {
        echo "postgres.sh: no $tool: apt-get install postgresql postgresql-contrib" >&2
        exit 2
    }
done
dir=$(mktemp -d "${TMPDIR:-/tmp}/flame-postgres.XXXXXX")
as() { "$@"; }
if [ "$(id -u)" = 0 ]; then
    chown nobody "$dir"
    as() { setpriv --reuid nobody --regid nogroup --clear-groups --no-new-privs -- "$@"; }
fi
cleanup() {
    as "$bin/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1 || true
    rm -rf "$dir"
}
trap cleanup EXIT
cd "$dir"

as "$bin/initdb" -D "$dir/data" -U flame --auth=trust --no-sync >"$dir/log" 2>&1 || {
    cat "$dir/log" >&2
    exit 1
}
as "$bin/pg_ctl" -D "$dir/data" -l "$dir/data/log" -w \
    -o "-k $dir -c listen_addresses='' -c fsync=on" start >/dev/null
export PGHOST=$dir PGUSER=flame PGDATABASE=postgres
"$bin/psql" -q -c 'create table stock (id int primary key, n int)' -c 'insert into stock values (1, 0)'
cat >"$dir/fight.sql" <<'SQL'
begin;
update stock set n = n + 1 where id = 1;
select pg_sleep(0.005);
commit;
SQL
"$bin/pgbench" -n -c 8 -j 2 -T "$((seconds + 2))" -f "$dir/fight.sql" >"$dir/pgbench.log" 2>&1 &
load=$!
sleep 1
pids=$("$bin/psql" -Atc "select string_agg(pid::text, ',') from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid()")
"$flame" off --idle --view chain -d "$seconds" -o "$out" -p "$pids"
wait "$load"
grep -E 'transactions actually|failed|tps' "$dir/pgbench.log" || true
