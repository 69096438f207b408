package com.acme;

import io.ratelimit.annotation.RateLimited;
import org.springframework.batch.core.scope.context.ChunkContext;
import org.springframework.batch.core.step.StepContribution;
import org.springframework.batch.core.step.tasklet.Tasklet;
import org.springframework.batch.infrastructure.item.Chunk;
import org.springframework.batch.infrastructure.item.ItemProcessor;
import org.springframework.batch.infrastructure.item.ItemWriter;
import org.springframework.batch.infrastructure.repeat.RepeatStatus;
import org.springframework.stereotype.Component;

/** What limits are on. */
final class Parts {

    @Component("tasklet")
    static class Once implements Tasklet {

        @Override
        @RateLimited(name = "tasklet", rate = "1/d")
        public RepeatStatus execute(StepContribution contribution, ChunkContext context) {
            return RepeatStatus.FINISHED;
        }
    }

    @Component("waiting-tasklet")
    static class Waiting implements Tasklet {

        @Override
        @RateLimited(name = "waiting-tasklet", capacity = 1, rate = "4/s", maxWait = "1m")
        public RepeatStatus execute(StepContribution contribution, ChunkContext context) {
            return RepeatStatus.FINISHED;
        }
    }

    @Component("processor")
    static class ThreeItems implements ItemProcessor<Integer, Integer> {

        @Override
        @RateLimited(name = "processor", rate = "3/d")
        public Integer process(Integer item) {
            return item;
        }
    }

    @Component("waiting-processor")
    static class WaitingItems implements ItemProcessor<Integer, Integer> {

        @Override
        @RateLimited(name = "waiting-processor", capacity = 1, rate = "8/s", maxWait = "1m")
        public Integer process(Integer item) {
            return item;
        }
    }

    /** A chunk has two. */
    @Component("retried")
    static class RetriedItems implements ItemProcessor<Integer, Integer> {

        @Override
        @RateLimited(name = "retried", capacity = 2, rate = "8/s")
        public Integer process(Integer item) {
            return item;
        }
    }

    @Component("writer")
    static class OneChunk implements ItemWriter<Integer> {

        @Override
        @RateLimited(name = "writer", rate = "1/d")
        public void write(Chunk<? extends Integer> items) {
            Jobs.written("writer", items.getItems());
        }
    }
}
