#!/usr/bin/env bash
# Adds the starter to Spring's petclinic, and shows that nothing else changes:
#   scripts/test-in-petclinic.sh [--built] path/to/spring-petclinic [version of Spring Boot]
# Works on a copy of that checkout (git clone https://github.com/spring-projects/spring-petclinic). Its own tests must pass.
# Then starts it without and with the starter, which limits in memory, and compares the caches, the health components and
# the warnings that are logged. Prints the time that each start took.
set -euo pipefail
cd "$(dirname "$0")/.."

built=
if [[ ${1:-} == --built ]]; then
    built=--built
    shift
fi
petclinic=${1:?"usage: $0 [--built] path/to/spring-petclinic [version of Spring Boot]"}
[[ -f $petclinic/pom.xml ]] || { echo "$0: there is no pom.xml in $petclinic" >&2; exit 2; }
boot=${2:-}

repository=$(scripts/publish-under-test.sh $built)
work=$PWD/acceptance/target/petclinic
pid=
trap '[[ ! $pid ]] || kill "$pid" 2>/dev/null || true' EXIT

copy() { # name
    mkdir -p "$work/$1"
    cp -r "$petclinic/pom.xml" "$petclinic/src" "$work/$1"
    if [[ $boot ]]; then
        sed -i.bak "1,/<\/parent>/s/<version>[^<]*</<version>$boot</" "$work/$1/pom.xml"
    fi
}

maven() { # name, goal and options. Formatting and the history of the checkout are not the point.
    local name=$1
    shift
    ./mvnw -B -ntp -q -f "$work/$name/pom.xml" "$@" -Dmaven.repo.local.tail="$repository" \
        -Dspring-javaformat.skip -Dcheckstyle.skip -Denforcer.skip -Dmaven.gitcommitid.skip
}

# Leaves $work/<name>.caches, .health, .warnings.
start() { # name
    local log=$work/$1.log port=
    java -jar "$work/$1"/target/spring-petclinic-*.jar --server.port=0 --ratelimit.store=in-memory \
        --management.endpoints.web.exposure.include='*' --management.endpoint.health.show-details=always >"$log" 2>&1 &
    pid=$!
    for ((i = 0; i < 600; i++)); do
        if grep -q 'Started PetClinicApplication' "$log"; then
            break
        fi
        kill -0 "$pid" 2>/dev/null || { cat "$log" >&2; exit 1; }
        sleep 0.2
    done
    port=$(sed -nE 's/.*Tomcat started on port ([0-9]+).*/\1/p' "$log")
    local vets
    for vets in 1 2; do
        curl -sf "http://127.0.0.1:$port/vets" -H 'Accept: application/json' -o "$work/$1.vets"
    done
    curl -sf "http://127.0.0.1:$port/actuator/caches" >"$work/$1.caches"
    curl -sf "http://127.0.0.1:$port/actuator/health" | grep -oE '"[a-zA-Z]+":\{"(details|status)"' | sort >"$work/$1.health"
    kill "$pid"
    wait "$pid" || true
    pid=
    sed -nE 's/.* (WARN|ERROR) [0-9]+ --- \[[^]]*\] (\[[^]]*\] )?/\1 /p' "$log" | sort >"$work/$1.warnings"
    echo "$1: $(sed -nE 's/.*(Started PetClinicApplication.*)/\1/p' "$log")"
}

copy without
copy with
sed -i.bak '1,/<dependencies>/s|<dependencies>|&<dependency><groupId>io.ratelimit</groupId><artifactId>ratelimit-spring-boot-starter</artifactId><version>under-test</version></dependency>|' \
    "$work/with/pom.xml"
maven without package -Dmaven.test.skip
SPRING_APPLICATION_JSON='{"ratelimit":{"store":"in-memory"}}' maven with package >"$work/with.tests"
for name in without with; do
    start "$name"
done

status=0
for what in vets caches health warnings; do
    diff "$work/without.$what" "$work/with.$what" || { echo "$what changed" >&2; status=1; }
done
cat "$work"/with/target/surefire-reports/*.txt | grep 'Tests run'
exit "$status"
