package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.aop.FrameworkBeans.Accounts;
import io.ratelimit.aop.FrameworkBeans.CalledByOthers;
import io.ratelimit.aop.FrameworkBeans.Listens;
import io.ratelimit.aop.FrameworkBeans.LoadsNoAccounts;
import io.ratelimit.autoconfigure.LimitedContexts;
import jakarta.servlet.http.HttpSessionListener;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.AutowireCapableBeanFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.ModelAttribute;

/** Methods that frameworks call through the proxy, or beside their own calls, are limited like others. */
class LimitedFrameworkCallTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    @Test
    void methodsBesideThoseThatAFrameworkCallsAreLimited() {
        runner.withBean(LoadsNoAccounts.class)
                .withBean(ListensBesides.class)
                .withBean(CalledByOthers.class, CalledByOthers::new, definition -> definition.setInitMethodName("call"))
                .run(context -> {
                    Accounts accounts = context.getBean(Accounts.class);
                    accounts.register();
                    assertRejected("register", accounts::register);
                    ListensBesides listener = context.getBean(ListensBesides.class);
                    listener.call();
                    assertRejected("listens-besides-call", listener::call);
                    CalledByOthers called = context.getBean(CalledByOthers.class);
                    called.call("first");
                    assertRejected("called-by-others-call", () -> called.call("second"));
                });
    }

    @Test
    void methodThatSpringCallsBeforeTheHandlerIsLimitedIfItIsAnnotated() {
        runner.withBean(PreparesRequests.class).run(context -> {
            PreparesRequests limited = context.getBean(PreparesRequests.class);
            limited.model();
            assertRejected("prepares-requests-model", limited::model);
            limited.bind();
            assertRejected("prepares-requests-bind", limited::bind);
        });
    }

    @Test
    void methodsThatFrameworksCallThroughTheProxyAreLimited() {
        runner.withUserConfiguration(Listens.class, ListensToo.class, Advises.class)
                .run(context -> {
                    context.publishEvent("first");
                    assertRejected("listens-call", () -> context.publishEvent("second"));
                    context.publishEvent(1);
                    assertRejected("listens-too", () -> context.publishEvent(2));
                    context.getBean(Listens.class).adviceRuns();
                    assertRejected("advises-call", context.getBean(Listens.class)::adviceRuns);
                    AutowireCapableBeanFactory factory = context.getAutowireCapableBeanFactory();
                    factory.createBean(IsCreatedLater.class).call();
                    assertRejected(
                            "is-created-later-call",
                            () -> factory.createBean(IsCreatedLater.class).call());
                });
    }

    static class ListensBesides implements HttpSessionListener {

        @RateLimited(rate = "1/h")
        public void call() {}
    }

    static class ListensToo implements ApplicationListener<PayloadApplicationEvent<Integer>> {

        @Override
        @RateLimited(name = "listens-too", rate = "1/h")
        public void onApplicationEvent(PayloadApplicationEvent<Integer> event) {}
    }

    @Aspect
    @EnableAspectJAutoProxy
    static class Advises {

        @Before("execution(* io.ratelimit.aop.FrameworkBeans.Listens.adviceRuns())")
        @RateLimited(rate = "1/h")
        public void call() {}
    }

    static class IsCreatedLater {

        @RateLimited(rate = "1/h")
        public void call() {}
    }

    static class PreparesRequests {

        @ModelAttribute
        @RateLimited(rate = "1/h")
        public void model() {}

        @InitBinder
        @RateLimited(rate = "1/h")
        public void bind() {}
    }
}
