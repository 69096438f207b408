package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitStatus;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.documentation.MarkdownPage.Snippet;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.test.util.ReflectionTestUtils;
import reactor.core.publisher.Flux;

/** Recipes, as applications: what their pages say is what they do. */
@LongRunning
class RecipeTests {

    private static void follow(String recipe, ContextConsumer<AssertableWebApplicationContext> steps) throws Exception {
        List<Snippet> snippets =
                MarkdownPage.of("docs/recipes/" + recipe + ".md").snippets();
        follow(snippets, List.of(snippets.get(0)), steps);
    }

    private static void follow(
            List<Snippet> snippets, List<Snippet> code, ContextConsumer<AssertableWebApplicationContext> steps)
            throws Exception {
        try (JavaSnippets java = JavaSnippets.compile(code)) {
            List<Class<?>> beans = new ArrayList<>();
            for (Snippet snippet : code) {
                beans.addAll(java.beans(snippet));
            }
            DocumentedApplication.of(
                            beans,
                            snippets.stream()
                                    .filter(snippet -> snippet.is("yaml"))
                                    .flatMap(yaml -> DocumentedApplication.configuration(yaml).stream())
                                    .toList())
                    .withBean(TestClock.class)
                    .withPropertyValues("ratelimit.plans.timeout=30s")
                    .withClassLoader(java.classLoader())
                    .run(steps);
        }
    }

    /** Each answer has 1,500 tokens, from an estimate of 205. */
    @Test
    void tokensOfALanguageModel() throws Exception {
        follow("language-model-tokens", context -> {
            RateLimiterRegistry limiters = context.getBean(RateLimiterRegistry.class);
            for (int call = 1; call <= 7; call++) {
                ask(context);
                assertThat(limiters.get("tokens").peek("alice").remaining())
                        .isEqualTo(Math.max(0, 10_000 - 1_500 * call));
                assertThat(limiters.get("requests").peek("alice").remaining()).isEqualTo(20 - call);
            }
            assertThatThrownBy(() -> ask(context))
                    .isInstanceOfSatisfying(RateLimitExceededException.class, rejection -> {
                        assertThat(rejection.getLimitName()).isEqualTo("tokens");
                        // 500 of debt, and the estimate.
                        assertThat(rejection.getDecision().retryAfter()).isEqualTo(Duration.ofMillis(6 * 705));
                    });
            assertThat(limiters.get("requests").peek("alice").remaining()).isEqualTo(13);
            context.getBean(TestClock.class).advance(6 * 705 * 1_000);
            ask(context);
        });
    }

    /** Each answer has 1,500 tokens, from an estimate of 502. */
    @Test
    void limitsOfAChatClient() throws Exception {
        List<Snippet> snippets = MarkdownPage.of("docs/models.md").snippets();
        List<Snippet> code =
                snippets.stream().filter(snippet -> snippet.is("java")).toList();
        follow(snippets, code, context -> {
            RateLimiterRegistry limiters = context.getBean(RateLimiterRegistry.class);
            Object assistant = bean(context, "Assistant");
            for (int call = 1; call <= 7; call++) {
                assertThat((String) ReflectionTestUtils.invokeMethod(assistant, "answer", "alice", "acme", "question"))
                        .isEqualTo("42");
                assertThat(limiters.get("user-tokens").peek("alice").remaining())
                        .isEqualTo(Math.max(0, 10_000 - 1_500 * call));
                assertThat(limiters.get("tenant-tokens").peek("acme").remaining())
                        .isEqualTo(1_000_000 - 1_500 * call);
                assertThat(limiters.get("model-tokens").peek("fake").remaining())
                        .isEqualTo(500_000 - 1_500 * call);
                assertThat(limiters.get("model-requests").peek("alice").remaining())
                        .isEqualTo(20 - call);
                assertThat(limiters.get("model-answers").peek("alice").remaining())
                        .isEqualTo(2);
            }
            Flux<String> stream = ReflectionTestUtils.invokeMethod(assistant, "stream", "alice", "acme", "question");
            assertThatThrownBy(() -> stream.blockLast(Duration.ofSeconds(60)))
                    .isInstanceOfSatisfying(
                            RateLimitExceededException.class,
                            rejection -> assertThat(rejection.getLimitName()).isEqualTo("user-tokens"));
        });
    }

    private static void ask(AssertableWebApplicationContext context) {
        Object answer =
                ReflectionTestUtils.invokeMethod(bean(context, "Assistant"), "ask", "alice", "What is 6 times 7?!!");
        assertThat(answer).hasToString("ChatResponse[text=42, usage=Usage[totalTokens=1500]]");
    }

    @Test
    void plansFromADatabase() throws Exception {
        follow("plans-from-a-database", context -> {
            assertThat(admitted(context, "alice", 1_001)).isEqualTo(1_000);
            assertThat(admitted(context, "acme", 5_001)).isEqualTo(5_000);
            assertThat(admitted(context, "bob", 11)).isEqualTo(10);
        });
    }

    @Test
    void numbersByTheClock() throws Exception {
        follow("numbers-by-the-clock", context -> {
            Object clock = bean(context, "NumbersByTheClock");
            ReflectionTestUtils.invokeMethod(clock, "night");
            assertThat(rate(context)).isEqualTo("100/s");
            assertThat(status(context).configured().rate()).hasToString("20/s");
            assertThat(status(context).override().attributes().duration()).isEqualTo(Duration.ofHours(8));
            ReflectionTestUtils.invokeMethod(clock, "blackFriday");
            assertThat(rate(context)).isEqualTo("5/s");
        });
    }

    private static String rate(AssertableWebApplicationContext context) {
        return status(context).effective().rate().toString();
    }

    private static RateLimitStatus status(AssertableWebApplicationContext context) {
        return context.getBean(RateLimitAdmin.class).status("search");
    }

    private static long admitted(AssertableWebApplicationContext context, String customer, int calls) {
        return IntStream.range(0, calls)
                .filter(call -> !(catchThrowable(
                                () -> ReflectionTestUtils.invokeMethod(bean(context, "Quotes"), "quote", customer))
                        instanceof RateLimitExceededException))
                .count();
    }

    private static Object bean(AssertableWebApplicationContext context, String type) {
        return Stream.of(context.getBeanDefinitionNames())
                .filter(name -> {
                    Class<?> found = context.getType(name);
                    return found != null && found.getSimpleName().startsWith(type);
                })
                .map(context::getBean)
                .findFirst()
                .orElseThrow();
    }
}
