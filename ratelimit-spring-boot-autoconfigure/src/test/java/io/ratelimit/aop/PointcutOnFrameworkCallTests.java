package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.aop.FrameworkBeans.CalledByOthers;
import io.ratelimit.autoconfigure.LimitedContexts;
import jakarta.annotation.PostConstruct;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import java.util.Arrays;
import java.util.Locale;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.convert.converter.Converter;
import org.springframework.core.env.Environment;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.core.userdetails.UsernameNotFoundException;

/** Pointcuts that match methods which frameworks call in their own way. */
class PointcutOnFrameworkCallTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    @ParameterizedTest
    @CsvSource({
        "UnannotatedUsers, loadUserByUsername, as if the password were wrong",
        "UnannotatedConverter, convert, as if the value were wrong",
        "UnannotatedFilter, doFilter, the web server answers a rejection with 500"
    })
    void pointcutOnAMethodThatAFrameworkCallsInItsOwnWayStopsTheStartUp(String type, String method, String problem) {
        runner.withBean(nested(type))
                .withPropertyValues(
                        "ratelimit.limits.quotes.rate=1/h",
                        "ratelimit.limits.quotes.pointcut=execution(* "
                                + nested(type).getName() + "." + method + "(..))")
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + nested(type).getName() + "." + method)
                        .contains("What: ratelimit.limits.quotes.pointcut")
                        .contains(problem));
    }

    /** Beside others they are left out, so that a pointcut may name a package. */
    @ParameterizedTest
    @CsvSource({
        "UnannotatedAware, setEnvironment, when there is no proxy",
        "UnannotatedStart, call, when there is no proxy"
    })
    void pointcutOnNothingButCallbacksStopsTheStartUp(String type, String method, String problem) {
        String all = "execution(* " + nested(type).getName() + ".*(..))";
        ApplicationContextRunner limited =
                runner.withBean(nested(type)).withPropertyValues("ratelimit.limits.quotes.rate=1/h");
        limited.withPropertyValues("ratelimit.limits.quotes.pointcut=" + all)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + nested(type).getName() + "." + method)
                        .contains("What: ratelimit.limits.quotes.pointcut")
                        .contains(problem));
        limited.withBean(CalledByOthers.class)
                .withPropertyValues("ratelimit.limits.quotes.pointcut=" + all + " || execution(* "
                        + CalledByOthers.class.getName() + ".call())")
                .run(context -> assertThat(context).hasNotFailed());
    }

    private static Class<?> nested(String name) {
        return Arrays.stream(PointcutOnFrameworkCallTests.class.getDeclaredClasses())
                .filter(type -> type.getSimpleName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    static class UnannotatedUsers implements UserDetailsService {

        @Override
        public UserDetails loadUserByUsername(String username) {
            throw new UsernameNotFoundException(username);
        }
    }

    static class UnannotatedAware implements EnvironmentAware {

        @Override
        public void setEnvironment(Environment environment) {}
    }

    static class UnannotatedStart {

        @PostConstruct
        public void call() {}
    }

    static class UnannotatedConverter implements Converter<String, Locale> {

        @Override
        public Locale convert(String source) {
            return Locale.forLanguageTag(source);
        }
    }

    static class UnannotatedFilter implements Filter {

        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) {}
    }
}
