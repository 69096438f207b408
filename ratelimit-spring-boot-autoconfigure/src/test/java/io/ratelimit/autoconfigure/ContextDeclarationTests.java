package io.ratelimit.autoconfigure;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ratelimit.testing.LongRunning;
import io.ratelimit.web.RuleOrder;
import io.ratelimit.web.servlet.RequestLimitFilter;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** What one context of an application declares and what the configuration names is known to the others. */
@LongRunning
class ContextDeclarationTests extends ContextFamily {

    @Test
    void limitOfTheChildIsNoMistakeOfTheParent() {
        run(family(Plain.class, WithQuotes.class), "ratelimit.limits.quotes.capacity=2");

        quote();
        quote();
        assertRejected("quotes", this::quote);
    }

    @Test
    void limitOfTheParentIsNoMistakeOfTheChild() {
        run(family(WithQuotes.class, Plain.class), "ratelimit.limits.quotes.capacity=2");

        assertThat(limiter("quotes").tryAcquire("all").capacity()).isEqualTo(2);
    }

    @Test
    void limitThatNoContextDeclaresStopsTheLastOne() {
        assertThatThrownBy(() -> run(family(WithQuotes.class, WithExports.class), "ratelimit.limits.qoutes.capacity=2"))
                .hasMessageContaining("ratelimit.limits.qoutes must name a declared limit")
                .hasMessageContaining("ratelimit.limits.quotes");
        assertThatThrownBy(() -> run(parent(Plain.class), "ratelimit.limits.quotes.capacity=2"))
                .hasMessageContaining("ratelimit.limits.quotes must name a declared limit");
    }

    @Test
    void siblingsKnowTheLimitsOfEachOther() {
        run(
                family(Plain.class, WithQuotes.class)
                        .sibling(
                                new Class<?>[] {WithExports.class},
                                all("--ratelimit.limits.quotes.capacity=2", "--ratelimit.limits.exports.capacity=3"))
                        .web(WebApplicationType.NONE),
                "ratelimit.limits.quotes.capacity=2",
                "ratelimit.limits.exports.capacity=3");

        assertThat(limiter("exports").tryAcquire("all").capacity()).isEqualTo(3);
    }

    @Test
    void limitThatNoSiblingDeclaresStopsTheLastOne() {
        String typo = "--ratelimit.limits.qoutes.capacity=2";

        assertThatThrownBy(() -> family(Plain.class, WithQuotes.class)
                        .sibling(new Class<?>[] {WithExports.class}, all(typo))
                        .web(WebApplicationType.NONE)
                        .run(all(typo)))
                .hasMessageContaining("ratelimit.limits.qoutes must name a declared limit");
    }

    @Test
    void parentThatIsStartedAloneSaysThatItIsPartial() {
        ConfigurableApplicationContext parent = parent(Plain.class)
                .properties("ratelimit.partial-context=true")
                .run(all("--ratelimit.limits.quotes.capacity=2"));
        run(
                new SpringApplicationBuilder(WithQuotes.class)
                        .web(WebApplicationType.NONE)
                        .parent(parent),
                "ratelimit.limits.quotes.capacity=2");
        assertThat(limiter("quotes").tryAcquire("all").capacity()).isEqualTo(2);

        assertThatThrownBy(() -> new SpringApplicationBuilder(WithQuotes.class)
                        .web(WebApplicationType.NONE)
                        .parent(parent)
                        .run(all("--ratelimit.limits.qoutes.capacity=2")))
                .hasMessageContaining("ratelimit.limits.qoutes must name a declared limit");
    }

    @Test
    void sameNameNeedsTheSameNumbers() {
        run(family(WithQuotes.class, WithOtherQuotes.class), "ratelimit.limits.quotes.rate=5/h");
        assertThatThrownBy(() -> run(family(WithQuotes.class, WithOtherQuotes.class)))
                .hasMessageContaining("name 'quotes' is declared as")
                .hasMessageContaining(Quotes.class.getName());
    }

    @Test
    void annotationOfTheChildWinsOverTheConfigurationAlone() {
        run(family(Plain.class, WithWindow.class), "ratelimit.limits.window.rate=1/h");

        assertThat(last.getBean(Window.class).call()).isEqualTo(1);
        assertRejected("window", () -> last.getBean(Window.class).call());
    }

    @Test
    void pointcutMayMatchInEitherContext() {
        String pointcut = "ratelimit.limits.plain.pointcut=execution(* " + Unannotated.class.getName() + ".*(..))";
        run(family(Plain.class, WithUnannotated.class), pointcut, "ratelimit.limits.plain.rate=1/h");
        last.getBean(Unannotated.class).call();
        assertRejected("plain", () -> last.getBean(Unannotated.class).call());
        close();

        run(family(WithUnannotated.class, Plain.class), pointcut, "ratelimit.limits.plain.rate=1/h");
        last.getBean(Unannotated.class).call();
        assertRejected("plain", () -> last.getBean(Unannotated.class).call());

        assertThatThrownBy(() -> run(family(Plain.class, Plain.class), pointcut, "ratelimit.limits.plain.rate=1/h"))
                .hasMessageContaining("matches no public method of any bean");
    }

    @Test
    void urlRulesAreNoMistakeOfAParentWithoutWeb() {
        run(
                parent(Plain.class).child(Web.class).web(WebApplicationType.SERVLET),
                "ratelimit.limits.urls.rate=1/h",
                "ratelimit.http[0].path=/**",
                "ratelimit.http[0].limit=urls");

        assertThat(last.getBeansOfType(RequestLimitFilter.class)).hasSize(RuleOrder.values().length);
        assertThatThrownBy(() -> run(
                        family(Plain.class, Plain.class),
                        "ratelimit.limits.urls.rate=1/h",
                        "ratelimit.http[0].path=/**",
                        "ratelimit.http[0].limit=urls"))
                .hasMessageContaining("ratelimit.http must be empty in an application without Spring MVC and WebFlux");
    }
}
