#!/usr/bin/env bash
# Measures everything, in less than 30 minutes on two quiet cores, and writes benchmarks/RESULTS.md, its chart and the sentence of README.md.
#   --quick         in less than 10 minutes, less exactly
#   --only SECTION  one section of the results, or one scenario; writes to benchmarks/target. See benchmarks/README.md for the sections
#   --chart         measures nothing; draws the chart of benchmarks/RESULTS.md and counts its rows in README.md
# BENCHMARK_REDIS_SERVER=path/to/redis-server: that one, not the one that Maven has brought.
set -euo pipefail
cd "$(dirname "$0")/.."

./mvnw -B -ntp -q -Pquick package -pl benchmarks -am
exec java -Djmh.ignoreLock=true -jar benchmarks/target/benchmarks.jar "$@"
