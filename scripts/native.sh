#!/usr/bin/env bash
# Builds a native image of an application with limits in memory, and checks that it limits:
#   scripts/native.sh [--built]
# Needs GraalVM for JDK 25 or later: its native-image on the PATH, or in the bin directory of JAVA_HOME.
# First runs the acceptance suite from AOT-processed applications, or takes those of its last run (--built).
set -euo pipefail
cd "$(dirname "$0")/.."

native_image=$(command -v native-image || true)
[[ $native_image ]] || native_image=${JAVA_HOME:+$JAVA_HOME/bin/native-image}
[[ -x $native_image ]] || { echo "$0: there is no native-image on the PATH or in JAVA_HOME" >&2; exit 2; }

if [[ ${1:-} != --built ]]; then
    boot=$(sed -nE 's/.*<spring-boot.version>(.*)<\/spring-boot.version>.*/\1/p' acceptance/pom.xml)
    scripts/test-on-boot.sh --aot "$boot"
fi

# As Spring Boot documents it for a packaged application.
work=$PWD/acceptance/target/native
rm -rf "$work"
mkdir -p "$work"
(cd "$work" && jar -xf ../../in-memory/target/in-memory-1.jar)
cd "$work"
main=$(sed -nE 's/^Start-Class: *([A-Za-z0-9_.$]+).*/\1/p' META-INF/MANIFEST.MF)
"$native_image" --no-fallback -o application -cp ".:BOOT-INF/classes:$(find BOOT-INF/lib -name '*.jar' | paste -sd: -)" "$main"

: >application.log
./application --server.port=0 --spring.profiles.active=native >application.log 2>&1 &
application=$!
trap 'kill "$application" 2>/dev/null || true' EXIT
port=
for ((i = 0; i < 100; i++)); do
    port=$(sed -nE 's/^listening on ([0-9]+)$/\1/p' application.log)
    [[ ! $port ]] || break
    kill -0 "$application" 2>/dev/null || break
    sleep 0.2
done
[[ $port ]] || { cat application.log >&2; echo "$0: the native image did not start" >&2; exit 1; }

status=0
expect() { # path, status codes of the calls
    local path=$1 codes=()
    shift
    for _; do
        codes+=("$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port$path")")
    done
    if [[ ${codes[*]} != "$*" ]]; then
        echo "$path: expected $*, but was ${codes[*]}" >&2
        status=1
    fi
}
# An annotation, a bean and an argument in an expression, a property of an argument, a URL rule, a fallback method.
expect '/plain?key=alice' 200 200 429
expect '/bean?key=tenant-alice' 200 200 429
expect '/cost?key=alice&items=6' 200 429
expect '/url/alice' 200 200 429
expect '/fallback?key=alice' 200 200 200
curl -s "http://127.0.0.1:$port/fallback?key=alice" | grep -q '^cached$' || { echo "/fallback is not limited" >&2; status=1; }
((status)) || echo "The native image limits."
exit "$status"
