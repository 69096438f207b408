package com.acme;

import io.ratelimit.RateLimitExceededException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.job.parameters.JobParametersBuilder;
import org.springframework.batch.core.launch.JobOperator;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.step.Step;
import org.springframework.batch.core.step.builder.ChunkOrientedStepBuilder;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.core.step.tasklet.Tasklet;
import org.springframework.batch.infrastructure.item.ItemProcessor;
import org.springframework.batch.infrastructure.item.ItemWriter;
import org.springframework.batch.infrastructure.item.support.ListItemReader;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.core.retry.RetryPolicy;
import org.springframework.stereotype.Component;

/** Runs a job for each limited bean. The suite reads what it prints. */
@Component
public record Jobs(
        JobRepository repository,
        JobOperator operator,
        Map<String, Tasklet> tasklets,
        Map<String, ItemProcessor<Integer, Integer>> processors,
        Map<String, ItemWriter<Integer>> writers)
        implements ApplicationRunner {

    @Override
    public void run(ApplicationArguments arguments) throws Exception {
        for (String name : tasklets.keySet()) {
            Step step = new StepBuilder(name, repository)
                    .tasklet(tasklets.get(name))
                    .build();
            run(name, step);
            run(name, step);
        }
        for (String name : processors.keySet()) {
            ChunkOrientedStepBuilder<Integer, Integer> step =
                    chunks(name).processor(processors.get(name)).writer(items -> written(name, items.getItems()));
            run(name, name.equals("retried") ? retrying(step) : step.build());
        }
        for (String name : writers.keySet()) {
            run(name, chunks(name).writer(writers.get(name)).build());
        }
    }

    private ChunkOrientedStepBuilder<Integer, Integer> chunks(String name) {
        return new StepBuilder(name, repository)
                .<Integer, Integer>chunk(2)
                .reader(new ListItemReader<>(List.of(1, 2, 3, 4)));
    }

    private static Step retrying(ChunkOrientedStepBuilder<Integer, Integer> step) {
        return step.faultTolerant()
                .retryPolicy(RetryPolicy.builder()
                        .includes(RateLimitExceededException.class)
                        .maxRetries(20)
                        .delay(Duration.ofMillis(200))
                        .build())
                .build();
    }

    static void written(String name, List<?> items) {
        System.out.println(name + " writes " + items);
    }

    private void run(String name, Step step) throws Exception {
        var job = new JobBuilder(name, repository).start(step).build();
        var parameters = new JobParametersBuilder().addLong("run", System.nanoTime());
        System.out.println(
                name + ": " + operator.start(job, parameters.toJobParameters()).getStatus());
    }
}
