#!/usr/bin/env bash
# Runs the acceptance suite against one jar on versions of Spring Boot:
#   scripts/test-on-boot.sh [--jdk home]... [--aot] [--built] [--requests n] version...
# Builds the jar once, with the version of Spring Boot in pom.xml, or takes the one of the last build (--built).
# Then builds and tests acceptance/ with that jar, for each version and JDK. Prints a table with a row for each run;
# the reports are in acceptance/target.
# With --requests, clients end that many requests in each way on each container, instead of 40.
# With --aot, the applications are processed ahead of time and started with -Dspring.aot.enabled=true.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    sed -n '2,8s/^# //p' "$0" >&2
    exit 2
}

jdks=() versions=() built= aot=() requests=40
while (($#)); do
    case $1 in
    --jdk)
        [[ ${2:-} && -x $2/bin/java ]] || { echo "$0: there is no JDK in ${2:-}" >&2; exit 2; }
        jdks+=("$2")
        shift
        ;;
    --aot) aot=(-Paot -Dacceptance.jvm-options=-Dspring.aot.enabled=true) ;;
    --built) built=true ;;
    --requests)
        [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage
        requests=$2
        shift
        ;;
    -*) usage ;;
    *) versions+=("$1") ;;
    esac
    shift
done
((${#versions[@]})) || usage
if ((!${#jdks[@]})); then
    jdks=("${JAVA_HOME:-$(java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.home = //p')}")
fi

repository=$(scripts/publish-under-test.sh ${built:+--built})
jar=$(ls "$repository"/io/ratelimit/ratelimit-spring-boot-autoconfigure/under-test/*.jar)

attribute() { sed -nE "s/.* $1=\"([0-9]+)\".*/\1/p" <<<"$2"; }

status=0
rows=()
for boot in "${versions[@]}"; do
    # The releases of other projects for this generation.
    gateway=5.0.4 context=5.0.3 feign=5.0.1 ai=2.0.1 graphql=2.0.6 grpc=1.0.3 java_grpc=1.83.1 generation=()
    [[ $boot != 3.* ]] || { gateway=4.3.5 context=4.3.0 feign=4.3.0 ai=1.1.2 graphql=1.4.6 grpc=0.12.0 java_grpc=1.76.0 generation=(-Pspring-boot-3,undertow); }
    for jdk in "${jdks[@]}"; do
        # Nothing that another version has compiled.
        rm -rf acceptance/*/target
        outcome=0
        JAVA_HOME=$jdk ./mvnw -B -ntp -f acceptance/pom.xml verify -q \
            -Dspring-boot.version="$boot" -Dspring-cloud-gateway.version="$gateway" \
            -Dspring-cloud-context.version="$context" -Dspring-cloud-openfeign.version="$feign" -Dspring-ai.version="$ai" -Dspring-graphql.version="$graphql" \
            -Dspring-grpc.version="$grpc" -Dgrpc-java.version="$java_grpc" \
            -Dacceptance.requests="$requests" ${generation[@]+"${generation[@]}"} \
            ${aot[@]+"${aot[@]}"} -Dmaven.repo.local.tail="$repository" -Dacceptance.jar="$jar" \
            || outcome=$?
        java=$("$jdk/bin/java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.version = //p')
        tests=0 failed=0 skipped=0
        while IFS= read -r -d '' report; do
            suite=$(grep -m1 '<testsuite ' "$report")
            tests=$((tests + $(attribute tests "$suite")))
            failed=$((failed + $(attribute failures "$suite") + $(attribute errors "$suite")))
            skipped=$((skipped + $(attribute skipped "$suite")))
        done < <(find acceptance/suite -name 'TEST-*.xml' -print0)
        ((outcome == 0 && tests > skipped)) || status=1
        run=$boot-$java${aot[0]:+-aot}
        mkdir -p "acceptance/target/$run"
        for module in servlet jetty undertow reactive jedis in-memory gateway gateway-mvc graphql grpc grpc-devh feign jersey security stomp rsocket websocket background batch language-model neighbours clinic-before clinic-after; do
            cp "acceptance/$module/target/application.log" "acceptance/target/$run/$module.log" 2>/dev/null || true
        done
        mv acceptance/suite/target/surefire-reports "acceptance/target/$run" 2>/dev/null || true
        row="$((tests - failed - skipped)) passed, $failed failed"
        ((!skipped)) || row+=", $skipped skipped"
        rows+=("| $boot | $java | ${aot[0]:+AOT, }$row |")
        ((outcome == 0 || failed > 0)) || echo "$0: no result for $run (Maven's exit code: $outcome)" >&2
    done
done
echo '| Spring Boot | Java | acceptance tests |'
echo '|---|---|---|'
printf '%s\n' "${rows[@]}"
exit "$status"
