package io.ratelimit.grpc;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.BindableService;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.StreamObserver;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Whether gRPC calls the methods of a service through its proxy. The acceptance suite calls a server. */
class GrpcServiceTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void serviceThatBindsItselfStopsTheStartUp(boolean lazy) {
        runner.withBean("quotes", SelfBound.class, SelfBound::new, definition -> definition.setLazyInit(lazy))
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription())
                            .contains("Where: " + SelfBound.class.getName() + ".quote(String, StreamObserver)")
                            .contains(
                                    "@RateLimited must apply to methods that a proxy can intercept (was called by gRPC"
                                            + " past the proxy, because its class overrides bindService).");
                    assertThat(analysis.getAction())
                            .isEqualTo(
                                    "Extend the generated …ImplBase and leave bindService to it, or limit a method of"
                                            + " another bean.");
                });
    }

    @Test
    void pointcutOnAServiceThatBindsItselfStopsTheStartUp() {
        runner.withBean(UnannotatedSelfBound.class)
                .withPropertyValues(
                        "ratelimit.limits.quotes.rate=1/h",
                        "ratelimit.limits.quotes.pointcut=execution(* " + UnannotatedSelfBound.class.getName()
                                + ".quote(..))")
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("What: ratelimit.limits.quotes.pointcut")
                        .contains(
                                "must apply to methods that a proxy can intercept (was called by gRPC past the proxy"));
    }

    /** The methods of its interface are those of the proxy, but {@code bindService} binds those of the target. */
    @Test
    void serviceThatIsProxiedByItsInterfacesStopsTheStartUp() {
        runner.withBean("quotes", Generated.class, Generated::new)
                .withPropertyValues("spring.aop.proxy-target-class=false")
                .run(context -> {
                    assertThat(analysis(context).getDescription())
                            .contains("Where: " + Generated.class.getName() + ".quote(String, StreamObserver)")
                            .contains("the bean 'quotes' is proxied by its interfaces");
                    assertThat(analysis(context).getAction()).contains("spring.aop.proxy-target-class=true");
                });
    }

    @Test
    void serviceThatGeneratedCodeBindsIsLimited() {
        runner.withBean(Generated.class).run(context -> {
            Generated service = context.getBean(Generated.class);
            assertThat(service.bindService()).isNull();
            assertThat(service.bound).isSameAs(service);
        });
    }

    /** Other beans call it through the proxy. */
    @Test
    void methodThatIsNoneOfGrpcIsLimitedWhateverBindsTheService() {
        runner.withBean(WithAnotherMethod.class).run(context -> {
            WithAnotherMethod service = context.getBean(WithAnotherMethod.class);
            service.refresh();
            LimitedContexts.assertRejected("refreshes", service::refresh);
        });
    }

    interface AsyncService {

        default void quote(String user, StreamObserver<String> answers) {}
    }

    /** As generated code. Remembers whose methods it binds. */
    abstract static class ImplBase implements BindableService, AsyncService {

        Object bound;

        @Override
        public final ServerServiceDefinition bindService() {
            bound = this;
            return null;
        }
    }

    static class Generated extends ImplBase {

        @Override
        @RateLimited(rate = "1/h")
        public void quote(String user, StreamObserver<String> answers) {}
    }

    static class UnannotatedSelfBound implements BindableService {

        public void quote(String user, StreamObserver<String> answers) {}

        @Override
        public ServerServiceDefinition bindService() {
            return null;
        }
    }

    static class SelfBound extends UnannotatedSelfBound {

        @Override
        @RateLimited(rate = "1/h")
        public void quote(String user, StreamObserver<String> answers) {}
    }

    static class WithAnotherMethod extends UnannotatedSelfBound {

        @RateLimited(name = "refreshes", rate = "1/h")
        public void refresh() {}
    }
}
