package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;
import org.springframework.cloud.openfeign.FeignClient;

/** The fallback class of a Feign client implements its interface, and is called after the client has been charged. */
class FeignFallbackTests {

    @FeignClient(fallback = NoRates.class)
    interface Rates {

        @RateLimited(name = "rates", rate = "1/m")
        String rate();

        String other();

        String own();
    }

    static class NoRates implements Rates {

        @Override
        public String rate() {
            return "none";
        }

        @Override
        public String other() {
            return "none";
        }

        @Override
        @RateLimited(name = "own", rate = "1/m")
        public String own() {
            return "none";
        }
    }

    interface Find<T> {

        String of(T name);
    }

    @FeignClient(fallback = NoPrices.class)
    @RateLimited(name = "prices", rate = "1/m")
    interface Prices extends Find<String> {}

    static class NoPrices implements Prices {

        @Override
        public String of(String name) {
            return "none";
        }
    }

    static class PriceServer extends NoPrices {}

    @FeignClient(fallback = LimitedFallback.class)
    interface Quotes {

        String quote();
    }

    @RateLimited(name = "fallbacks", rate = "1/m")
    static class LimitedFallback implements Quotes {

        @Override
        public String quote() {
            return "none";
        }
    }

    @FeignClient(fallback = NoSpecialOffers.class)
    interface Offers {

        @RateLimited(name = "offers", rate = "1/m")
        String offer();
    }

    interface SpecialOffers extends Offers {}

    static class NoSpecialOffers implements SpecialOffers {

        @Override
        public String offer() {
            return "none";
        }
    }

    @FeignClient(fallbackFactory = StockFactory.class)
    @RateLimited(name = "stocks", rate = "1/m")
    interface Stocks {

        String stock();
    }

    static class NoStocks implements Stocks {

        @Override
        public String stock() {
            return "none";
        }
    }

    /** Implements a {@code FallbackFactory} of the library. */
    record StockFactory(NoStocks stocks) {}

    /** A server that shares the interface. */
    static class Server extends NoRates {}

    @Test
    void fallbackIsNotChargedForAnnotationsOfTheClient() {
        LimitedContexts.inMemory().withBean(NoRates.class).run(context -> {
            Rates fallback = context.getBean(Rates.class);
            assertThat(fallback.rate()).isEqualTo("none");
            assertThat(fallback.rate()).isEqualTo("none");
        });
    }

    @Test
    void fallbackIsNotChargedForPointcutsOfTheClient() {
        LimitedContexts.inMemory()
                .withBean("fallback", NoRates.class)
                .withBean(Server.class)
                .withPropertyValues(
                        "ratelimit.limits.matched.rate=1/m",
                        "ratelimit.limits.matched.pointcut=execution(* io.ratelimit.aop.FeignFallbackTests.Rates.other())")
                .run(context -> {
                    Rates fallback = context.getBean("fallback", Rates.class);
                    assertThat(fallback.other()).isEqualTo("none");
                    assertThat(fallback.other()).isEqualTo("none");
                });
    }

    @Test
    void annotationOfTheFallbackApplies() {
        LimitedContexts.inMemory().withBean(NoRates.class).run(context -> {
            Rates fallback = context.getBean(Rates.class);
            fallback.own();
            assertRejected("own", fallback::own);
        });
    }

    @Test
    void fallbackIsNotChargedForAnnotationsOfTheClientsType() {
        LimitedContexts.inMemory().withBean(NoPrices.class).run(context -> {
            Prices fallback = context.getBean(Prices.class);
            assertThat(fallback.of("a")).isEqualTo("none");
            assertThat(fallback.of("a")).isEqualTo("none");
        });
    }

    @Test
    void fallbackIsNotChargedForMethodsOfAGenericInterface() {
        LimitedContexts.inMemory()
                .withBean("fallback", NoPrices.class)
                .withBean(PriceServer.class)
                .withPropertyValues(
                        "ratelimit.limits.matched.rate=1/m",
                        "ratelimit.limits.matched.pointcut=execution(* io.ratelimit.aop.FeignFallbackTests.NoPrices.of(String))")
                .run(context -> {
                    Prices fallback = context.getBean("fallback", Prices.class);
                    assertThat(fallback.of("a")).isEqualTo("none");
                    assertThat(fallback.of("a")).isEqualTo("none");
                });
    }

    @Test
    void annotationOfTheFallbacksTypeApplies() {
        LimitedContexts.inMemory().withBean(LimitedFallback.class).run(context -> {
            Quotes fallback = context.getBean(Quotes.class);
            fallback.quote();
            assertRejected("fallbacks", fallback::quote);
        });
    }

    @Test
    void fallbackOfAnInterfaceBelowTheClientIsNotCharged() {
        LimitedContexts.inMemory().withBean(NoSpecialOffers.class).run(context -> {
            Offers fallback = context.getBean(Offers.class);
            assertThat(fallback.offer()).isEqualTo("none");
            assertThat(fallback.offer()).isEqualTo("none");
        });
    }

    @Test
    void fallbackOfAFactoryIsNotCharged() {
        LimitedContexts.inMemory()
                .withBean(NoStocks.class)
                .withBean(StockFactory.class)
                .run(context -> {
                    Stocks fallback = context.getBean(StockFactory.class).stocks();
                    assertThat(fallback.stock()).isEqualTo("none");
                    assertThat(fallback.stock()).isEqualTo("none");
                });
    }

    /** The library implements it by a proxy. */
    @Test
    void clientWithAFactoryOfFallbacksIsCharged() {
        LimitedContexts.inMemory()
                .withBean(Stocks.class, () -> (Stocks) Proxy.newProxyInstance(
                        Stocks.class.getClassLoader(), new Class<?>[] {Stocks.class}, (proxy, method, args) -> "some"))
                .run(context -> {
                    Stocks client = context.getBean(Stocks.class);
                    assertThat(client.stock()).isEqualTo("some");
                    assertRejected("stocks", client::stock);
                });
    }

    @Test
    void otherImplementationsAreCharged() {
        LimitedContexts.inMemory().withBean(Server.class).run(context -> {
            Rates server = context.getBean(Rates.class);
            server.rate();
            assertRejected("rates", server::rate);
        });
    }
}
