#!/usr/bin/env bash
# Runs the Redis tests against a server of the caller's choice, alone, as a Cluster and with its Sentinels:
#   scripts/test-on-redis.sh path/to/redis-server [options of Maven]
set -euo pipefail

server=${1:?"usage: $0 path/to/redis-server [options of Maven]"}
if ! server=$(command -v -- "$server"); then
    echo "$0: there is no $1" >&2
    exit 2
fi
[[ $server == /* ]] || server=$PWD/$server
shift
cd "$(dirname "$0")/.."

"$server" --version
RATELIMIT_TEST_REDIS_SERVER=$server ./mvnw -B -ntp "$@" -pl ratelimit-redis,ratelimit-spring-boot-autoconfigure -am test \
    -Dtest='io.ratelimit.redis.**' -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excludedGroups=
