package io.ratelimit.expression;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;

/** What a report suggests instead of a variable that does not exist. */
class ExpressionScopeTests {

    private static final ParameterNameDiscoverer UNKNOWN = new ParameterNameDiscoverer() {

        @Override
        public @Nullable String @Nullable [] getParameterNames(Method method) {
            return null;
        }

        @Override
        public @Nullable String @Nullable [] getParameterNames(Constructor<?> constructor) {
            return null;
        }
    };

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "clientIp | Did you mean clientIp? Its parameters: #user.",
                "clientIP | Did you mean clientIp? Its parameters: #user.",
                "principal | Did you mean principal? Its parameters: #user.",
                "header | Did you mean header('…')? Its parameters: #user.",
                "usr | Did you mean #user? Its parameters: #user.",
                "tenant | Its parameters: #user."
            })
    void whatARequestKnowsIsWrittenWithoutANumberSign(String name, String fix) {
        assertThat(fix("named", new DefaultParameterNameDiscoverer(), CallerFacts.REQUEST, name))
                .isEqualTo(fix);
    }

    @Test
    void whatTheMethodCannotKnowIsNotSuggested() {
        assertThat(fix("named", new DefaultParameterNameDiscoverer(), CallerFacts.NONE, "clientIp"))
                .isEqualTo("Its parameters: #user.");
        assertThat(fix("named", new DefaultParameterNameDiscoverer(), CallerFacts.PRINCIPAL, "principal"))
                .startsWith("Did you mean principal?");
    }

    @Test
    void positionsAreSuggestedWhereNamesAreUnknown() {
        assertThat(fix("named", UNKNOWN, CallerFacts.REQUEST, "user"))
                .isEqualTo("Use #p0, #p1, …, or compile with -parameters.");
        assertThat(fix("named", UNKNOWN, CallerFacts.REQUEST, "clientIp"))
                .isEqualTo("Did you mean clientIp? Use #p0, #p1, …, or compile with -parameters.");
    }

    @Test
    void methodWithoutParametersHasNoneToName() {
        for (ParameterNameDiscoverer names : List.of(UNKNOWN, new DefaultParameterNameDiscoverer())) {
            assertThat(fix("bare", names, CallerFacts.NONE, "user")).isEqualTo("The method has no parameters.");
            assertThat(fix("bare", names, CallerFacts.REQUEST, "clientIp"))
                    .isEqualTo("Did you mean clientIp? The method has no parameters.");
        }
    }

    @Test
    void pathWithoutVariablesHasNoneToName() {
        assertThat(ExpressionScope.ofRequest("/quotes", List.of())
                        .noSuchVariable("key", "clientIp")
                        .getFix())
                .startsWith("Did you mean clientIp? There are clientIp, principal, header('…') and");
    }

    private static String fix(String method, ParameterNameDiscoverer names, CallerFacts facts, String variable) {
        Method limited = Arrays.stream(Limited.class.getDeclaredMethods())
                .filter(candidate -> candidate.getName().equals(method))
                .findFirst()
                .orElseThrow();
        return ExpressionScope.of(limited, Limited.class, names, () -> facts)
                .noSuchVariable("key", variable)
                .getFix();
    }

    static class Limited {

        public void named(String user) {}

        public void bare() {}
    }
}
