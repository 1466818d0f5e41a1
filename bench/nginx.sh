#!/bin/bash
# nginx.sh: slowdown of a web server under flame off, beside strace.
#
#     make bench-inside
#
# wrk requests a file of 1 KiB over loopback for SECONDS_EACH (3), CONNECTIONS (32) kept alive, from
# one nginx with one worker: requests a second, the median, the smallest and the largest, then how
# many times as many the plain server did, turn by turn. ROUNDS (5) turns, first with the file
# opened for each request, then with nginx's open_file_cache. Without wrk, ab sends the requests. As
# root the worker runs as the user nobody. The port is one that is free at 127.0.0.1; nothing else
# is touched.
# shellcheck source=bench/lib.sh
. "${0%/*}/lib.sh"

nginx=$(PATH=$PATH:/usr/sbin type -P nginx || :)
wrk=$(type -P wrk || :) ab=$(type -P ab || :)
if [ -z "$nginx" ] || [ -z "$wrk$ab" ]; then
    echo 'no nginx, or nobody to ask it, to measure: apt-get install nginx-light wrk'
    exit 0
fi
seconds=${SECONDS_EACH:-3} connections=${CONNECTIONS:-32}
[ -z "$tiny" ] || seconds=1 rounds=1
strace=$(type -P strace || :)
user=
[ "$(id -u)" != 0 ] || user='user nobody nogroup;'
chmod 755 "$dir"
mkdir "$dir/root"
head -c 1024 /dev/zero | tr '\0' x >"$dir/root/file"

answers() { # PORT: somebody does there
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

port=18080
while answers "$port"; do port=$((port + 1)); done
configure() { # DIRECTIVE
    cat >"$dir/nginx.conf" <<END
$user
daemon off;
master_process on;
worker_processes 1;
pid $dir/pid;
error_log $dir/log;
events { worker_connections 512; }
http {
    access_log off;
    keepalive_requests 1000000;
    client_body_temp_path $dir/t1;
    proxy_temp_path $dir/t2;
    fastcgi_temp_path $dir/t3;
    uwsgi_temp_path $dir/t4;
    scgi_temp_path $dir/t5;
    sendfile on;
    $1
    server { listen 127.0.0.1:$port; root $dir/root; }
}
END
}

ask() { # requests a second
    if [ -n "$wrk" ]; then
        "$wrk" -t 1 -c "$connections" -d "${seconds}s" "http://127.0.0.1:$port/file" |
            sed -n 's/^Requests.sec: *\([0-9.]*\)/\1/p'
    else
        "$ab" -q -k -c "$connections" -t "$seconds" -n 10000000 "http://127.0.0.1:$port/file" |
            sed -n 's/^Requests per second: *\([0-9.]*\).*/\1/p'
    fi
}

serve() { # NAME COMMAND...: a line of $dir/NAME
    local name=$1 server
    shift
    "$@" "$nginx" -c "$dir/nginx.conf" -e "$dir/log" >>"$dir/out" 2>&1 &
    server=$!
    until answers "$port"; do
        kill -0 $server || { cat "$dir/out" "$dir/log" >&2 && return 1; }
        sleep 0.05
    done
    ask >>"$dir/$name"
    kill -QUIT "$(cat "$dir/pid")"
    wait $server || :
    rm -f "$dir/x.flame"
}

line() { # NAME WHAT
    [ -s "$dir/$1" ] || return 0
    echo "$(column "$1" 1) $(paste -d' ' "$dir/plain" "$dir/$1" | awk '{ print $1 / $2 }' | spread)" |
        what=$2 awk '{ printf "  %-28s %7.0f a second  (%.0f to %.0f)   %.2fx (%.2f to %.2f)\n",
            ENVIRON["what"], $1, $2, $3, $4, $5, $6 }'
}

for cache in '' 'open_file_cache max=10;'; do
    configure "$cache"
    rm -f "$dir"/{plain,inside,off,strace}
    for ((i = 0; i < rounds; i++)); do
        serve plain
        serve inside "$flame" off --in-process -q -o "$dir/x.flame" --
        serve off "$flame" off --no-in-process -q -o "$dir/x.flame" --
        [ -z "$strace" ] || serve strace "$strace" -f --seccomp-bpf -o /dev/null \
            -e trace=futex,read,write,writev,recvfrom,sendto,sendfile,accept4,connect,poll,epoll_wait
    done
    echo "nginx, one worker, $connections connections${cache:+, open_file_cache}"
    line plain plain
    line inside 'flame off --in-process'
    line off 'flame off --no-in-process'
    line strace 'strace, no stacks'
done
uptime
