#!/usr/bin/env bash
# Builds and tests each application in examples/ with the starter as this tree has it:
#   scripts/check-examples.sh [--built]
# Builds the starter's jars, or takes those of the last build (--built). An example may have no more than 199 lines, without its POM.
set -euo pipefail
cd "$(dirname "$0")/.."

repository=$(scripts/publish-under-test.sh "$@" "$PWD/examples/target")

attribute() { sed -nE "s/.* $1=\"([0-9]+)\".*/\1/p" <<<"$2"; }

status=0
for pom in examples/*/pom.xml; do
    example=$(dirname "$pom")
    rm -rf "$example/target"
    lines=$(find "$example" -type f ! -name pom.xml -exec cat {} + | wc -l)
    if ((lines > 199)); then
        echo "$0: $example has $lines lines" >&2
        status=1
    fi
    ./mvnw -B -ntp -q -f "$pom" verify -Dratelimit.version=under-test -Dmaven.repo.local.tail="$repository" \
        -Dmaven.test.redirectTestOutputToFile=true || status=1
    tests=0 failed=0
    while IFS= read -r -d '' report; do
        suite=$(grep -m1 '<testsuite ' "$report")
        tests=$((tests + $(attribute tests "$suite")))
        failed=$((failed + $(attribute failures "$suite") + $(attribute errors "$suite")))
    done < <(find "$example/target" -name 'TEST-*.xml' -print0 2>/dev/null)
    ((tests > 0)) || status=1
    echo "$example: $lines lines, $((tests - failed)) passed, $failed failed"
done
exit "$status"
