package io.ratelimit.benchmarks;

import io.ratelimit.RateLimitExceededException;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.MapPropertySource;

/**
 * What a limit adds to a call where permits are counted in memory: everything between the caller and the method, as an
 * application has it. The floor is {@link #noOpInterceptor}, a Spring proxy whose only advice does nothing.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 10, time = 1)
@Fork(3)
public class InterceptorBenchmark {

    private final AnnotationConfigApplicationContext application = start();

    private final Quotes limited = application.getBean(Quotes.class);

    private final Quotes advised = adviseWithNothing(new Quotes());

    private final Quotes plain = new Quotes();

    private String user = "alice";

    private static AnnotationConfigApplicationContext start() {
        AnnotationConfigApplicationContext application = new AnnotationConfigApplicationContext();
        application
                .getEnvironment()
                .getPropertySources()
                .addFirst(new MapPropertySource("benchmark", Map.of("ratelimit.store", "in-memory")));
        application.register(Application.class);
        application.refresh();
        return application;
    }

    private static Quotes adviseWithNothing(Quotes target) {
        ProxyFactory factory = new ProxyFactory(target);
        factory.setProxyTargetClass(true);
        factory.addAdvice((MethodInterceptor) MethodInvocation::proceed);
        return (Quotes) factory.getProxy();
    }

    @TearDown
    public void stop() {
        application.close();
    }

    @Benchmark
    public String bareCall() {
        return plain.bare(user);
    }

    @Benchmark
    public String noOpInterceptor() {
        return advised.bare(user);
    }

    @Benchmark
    public String allowedWithoutKey() {
        return limited.forAll(user);
    }

    @Benchmark
    public String allowedByKey() {
        return limited.perUser(user);
    }

    /** The first call takes the only permit of the day; every later one is rejected. */
    @Benchmark
    public Object rejectedByKey() {
        try {
            return limited.exhausted(user);
        } catch (RateLimitExceededException rejection) {
            return rejection;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Quotes.class)
    static class Application {}
}
