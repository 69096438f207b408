#!/usr/bin/env bash
# Takes a server out of a container image, with its libraries, so that tests can stop, stall and restart it as any process:
#   scripts/extract-redis.sh redis:8 redis-server directory
set -euo pipefail

image=${1:?"usage: $0 image server directory"} server=$2 directory=$3
mkdir -p "$directory/root"
container=$(docker create "$image")
trap 'docker rm -f "$container" >/dev/null' EXIT
docker export "$container" | tar -x -C "$directory/root" --exclude='dev/*' --no-same-owner

root=$(cd "$directory/root" && pwd)
loader=$(find "$root" -type f -name 'ld-linux-*.so.*' -print -quit)
libraries=$(find "$root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
binary=$(find "$root/usr" -path "*/bin/$server" -print -quit)
printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$loader" "$libraries" "$binary" >"$directory/$server"
chmod +x "$directory/$server"
"$directory/$server" --version
