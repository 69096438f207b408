#!/usr/bin/env bash
# Measures everything, in about 15 minutes, and writes benchmarks/RESULTS.md.
#   --quick      in about 3 minutes, less exact; writes benchmarks/target/RESULTS.md
#   --only LINE  one line of the results; writes there too
# BENCHMARK_REDIS_SERVER=path/to/redis-server: that one, not the one that Maven has brought.
set -euo pipefail
cd "$(dirname "$0")/.."

./mvnw -B -ntp -q package -pl benchmarks -am -Dmaven.test.skip=true
exec java -Djmh.ignoreLock=true -jar benchmarks/target/benchmarks.jar "$@"
