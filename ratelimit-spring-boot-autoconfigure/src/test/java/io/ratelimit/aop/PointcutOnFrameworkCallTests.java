package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.aop.FrameworkCallTests.CalledByOthers;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.Resource;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestEvent;
import jakarta.servlet.ServletRequestListener;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSessionEvent;
import jakarta.servlet.http.HttpSessionListener;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.SmartFactoryBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.AutowireCapableBeanFactory;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.context.event.EventListener;
import org.springframework.core.MethodParameter;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.core.convert.converter.ConditionalGenericConverter;
import org.springframework.core.convert.converter.Converter;
import org.springframework.core.env.Environment;
import org.springframework.format.Formatter;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.messaging.handler.annotation.MessageExceptionHandler;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.authentication.dao.AbstractUserDetailsAuthenticationProvider;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.core.userdetails.UsernameNotFoundException;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.test.util.ReflectionTestUtils;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;
import reactor.core.publisher.Mono;

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
