package io.ratelimit.benchmarks.results;

import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.ScalarResult;

/** Hands findings of an iteration to JMH as its secondary results, which carry them from the fork to us. */
public final class FindingsProfiler implements InternalProfiler {

    private static volatile List<Finding> latest = List.of();

    /** To be called by a benchmark, once an iteration. */
    public static void report(List<Finding> findings) {
        latest = List.copyOf(findings);
    }

    /** All that was reported in a run. */
    public static Stream<Finding> findings(RunResult result) {
        return result.getBenchmarkResults().stream()
                .flatMap(fork -> fork.getIterationResults().stream())
                .flatMap(iteration -> iteration.getSecondaryResults().values().stream())
                .map(FindingsProfiler::finding);
    }

    @Override
    public String getDescription() {
        return "What the benchmark reports of each contestant";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        latest = List.of();
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        return latest.stream().map(FindingsProfiler::result).toList();
    }

    private static ScalarResult result(Finding finding) {
        String label = String.join("|", finding.measure().name(), finding.workload(), finding.contestant());
        return new ScalarResult(label, finding.value(), "", AggregationPolicy.AVG);
    }

    private static Finding finding(Result<?> result) {
        String[] label = result.getLabel().split("\\|", 3);
        return new Finding(label[1], label[2], Measure.valueOf(label[0]), result.getScore());
    }
}
