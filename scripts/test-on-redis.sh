#!/usr/bin/env bash
# Runs the Redis tests against a server of the caller's choice:
#   scripts/test-on-redis.sh path/to/redis-server [options of Maven]
# Starts it on a free port of 127.0.0.1 and stops it afterwards.
set -euo pipefail

server=${1:?"usage: $0 path/to/redis-server [options of Maven]"}
if ! server=$(command -v -- "$server"); then
    echo "$0: there is no $1" >&2
    exit 2
fi
[[ $server == /* ]] || server=$PWD/$server
shift
cd "$(dirname "$0")/.."

pid=
directory=$(mktemp -d)
stop() {
    if [[ $pid ]]; then
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    fi
    rm -rf "$directory"
}
trap stop EXIT
trap 'exit 130' INT TERM

# Succeeds once the server that was started, and not another one on its port, is ready.
start() {
    "$server" --port "$1" --bind 127.0.0.1 --dir "$directory" --save "" --appendonly no \
        >"$directory/log" 2>&1 </dev/null &
    pid=$!
    for ((i = 0; i < 100; i++)); do
        if grep -q 'Ready to accept connections' "$directory/log"; then
            return 0
        fi
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    pid=
    return 1
}

for ((try = 1; ; try++)); do
    port=$((20000 + RANDOM % 10000))
    if start "$port"; then
        break
    fi
    if ((try == 5)); then
        cat "$directory/log" >&2
        echo "$0: $server does not start" >&2
        exit 1
    fi
done

echo "$("$server" --version) on port $port"
RATELIMIT_TEST_REDIS=127.0.0.1:$port ./mvnw -B -ntp "$@" -pl ratelimit-redis,ratelimit-spring-boot-autoconfigure -am test \
    -Dtest='io.ratelimit.redis.**' -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excludedGroups=
