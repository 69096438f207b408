package io.ratelimit.benchmarks.memory;

import io.ratelimit.benchmarks.race.Contestant;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.openjdk.jmh.infra.Blackhole;
import org.springframework.aop.framework.ProxyFactory;

/** The floor of annotated calls: a Spring proxy whose only advice does nothing. No annotation can cost less. */
public final class NoOpInterceptor implements Contestant {

    private final Quotes quotes = advised();

    private final boolean answer;

    /** @param answer what it says of every call */
    public NoOpInterceptor(boolean answer) {
        this.answer = answer;
    }

    private static Quotes advised() {
        ProxyFactory factory = new ProxyFactory(new Quotes());
        factory.setProxyTargetClass(true);
        factory.addAdvice((MethodInterceptor) MethodInvocation::proceed);
        return (Quotes) factory.getProxy();
    }

    @Override
    public String name() {
        return "no-op interceptor (floor)";
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        sink.consume(quotes.quote(key));
        return answer;
    }
}
