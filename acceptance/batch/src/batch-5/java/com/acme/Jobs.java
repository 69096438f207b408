package com.acme;

import io.ratelimit.RateLimitExceededException;
import java.util.List;
import java.util.Map;
import org.springframework.batch.core.JobParametersBuilder;
import org.springframework.batch.core.Step;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.launch.JobLauncher;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.step.builder.SimpleStepBuilder;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.core.step.tasklet.Tasklet;
import org.springframework.batch.item.ItemProcessor;
import org.springframework.batch.item.ItemWriter;
import org.springframework.batch.item.support.ListItemReader;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.retry.backoff.FixedBackOffPolicy;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;

/** Runs a job for each limited bean. The suite reads what it prints. */
@Component
public record Jobs(
        JobRepository repository,
        JobLauncher launcher,
        PlatformTransactionManager transactions,
        Map<String, Tasklet> tasklets,
        Map<String, ItemProcessor<Integer, Integer>> processors,
        Map<String, ItemWriter<Integer>> writers)
        implements ApplicationRunner {

    @Override
    public void run(ApplicationArguments arguments) throws Exception {
        for (String name : tasklets.keySet()) {
            Step step = new StepBuilder(name, repository)
                    .tasklet(tasklets.get(name), transactions)
                    .build();
            run(name, step);
            run(name, step);
        }
        for (String name : processors.keySet()) {
            SimpleStepBuilder<Integer, Integer> step =
                    chunks(name).processor(processors.get(name)).writer(items -> written(name, items.getItems()));
            run(name, name.equals("retried") ? retrying(step) : step.build());
        }
        for (String name : writers.keySet()) {
            run(name, chunks(name).writer(writers.get(name)).build());
        }
    }

    private SimpleStepBuilder<Integer, Integer> chunks(String name) {
        return new StepBuilder(name, repository)
                .<Integer, Integer>chunk(2, transactions)
                .reader(new ListItemReader<>(List.of(1, 2, 3, 4)));
    }

    private static Step retrying(SimpleStepBuilder<Integer, Integer> step) {
        FixedBackOffPolicy backOff = new FixedBackOffPolicy();
        backOff.setBackOffPeriod(200);
        return step.faultTolerant()
                .retry(RateLimitExceededException.class)
                .retryLimit(20)
                .backOffPolicy(backOff)
                .build();
    }

    static void written(String name, List<?> items) {
        System.out.println(name + " writes " + items);
    }

    private void run(String name, Step step) throws Exception {
        var job = new JobBuilder(name, repository).start(step).build();
        var parameters = new JobParametersBuilder().addLong("run", System.nanoTime());
        System.out.println(
                name + ": " + launcher.run(job, parameters.toJobParameters()).getStatus());
    }
}
