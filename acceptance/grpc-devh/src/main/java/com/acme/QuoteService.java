package com.acme;

import io.grpc.stub.StreamObserver;
import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import java.util.concurrent.Semaphore;
import net.devh.boot.grpc.server.service.GrpcService;

@GrpcService
public class QuoteService extends TextService {

    private static final Semaphore RELEASED = new Semaphore(0);

    @Override
    @RateLimited(name = "quotes", rate = "1/d", keyExpression = "#user")
    public void quote(String user, StreamObserver<String> answers) {
        answer("42", answers);
    }

    /** Ends when the suite says so. */
    @Override
    @RateLimited(name = "held", algorithm = Algorithm.CONCURRENCY, capacity = 1)
    public void held(String nothing, StreamObserver<String> answers) {
        RELEASED.acquireUninterruptibly();
        answer("released", answers);
    }

    @Override
    public void holding(String nothing, StreamObserver<String> answers) {
        answer(String.valueOf(RELEASED.getQueueLength()), answers);
    }

    @Override
    public void release(String nothing, StreamObserver<String> answers) {
        RELEASED.release();
        answer("", answers);
    }

    private static void answer(String text, StreamObserver<String> answers) {
        answers.onNext(text);
        answers.onCompleted();
    }
}
