package io.ratelimit.aop;

import io.ratelimit.annotation.RateLimited;
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
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.SmartFactoryBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.Lifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
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
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;
import reactor.core.publisher.Mono;

/** Beans with annotated methods that Spring and other frameworks call in their own way. */
final class FrameworkBeans {

    private FrameworkBeans() {}

    @Configuration(proxyBeanMethods = false)
    static class CreatesABean {

        @Bean
        @RateLimited(rate = "1/h")
        Function<String, String> upper() {
            return String::toUpperCase;
        }
    }

    static class IsAFactoryBean implements FactoryBean<String> {

        @Override
        @RateLimited(rate = "1/h")
        public String getObject() {
            return "";
        }

        @Override
        public Class<?> getObjectType() {
            return String.class;
        }
    }

    static class IsASmartFactoryBean implements SmartFactoryBean<String> {

        @Override
        @RateLimited(rate = "1/h")
        public String getObject() {
            return "";
        }

        @Override
        public Class<?> getObjectType() {
            return String.class;
        }
    }

    static class IsInitialized implements InitializingBean {

        @Override
        @RateLimited(rate = "1/h")
        public void afterPropertiesSet() {}
    }

    static class IsAware implements EnvironmentAware {

        @Override
        @RateLimited(rate = "1/h")
        public void setEnvironment(Environment environment) {}
    }

    static class IsWired {

        @Autowired
        @RateLimited(rate = "1/h")
        public void wire(Environment environment) {}
    }

    static class IsGivenAResource {

        @Resource
        @RateLimited(rate = "1/h")
        public void setEnvironment(Environment environment) {}
    }

    static class ProcessesDefinitions implements BeanFactoryPostProcessor {

        @Override
        @RateLimited(rate = "1/h")
        public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {}
    }

    static class ProcessesDefinitionsToo implements BeanFactoryPostProcessor {

        @Override
        public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {}

        @RateLimited(rate = "1/h")
        public void call() {}
    }

    static class BeginsAndEnds {

        @RateLimited(rate = "1/h")
        public void call() {}
    }

    static class CalledByOthers {

        public void call() {}

        @RateLimited(rate = "1/h")
        public void call(String caller) {}
    }

    static class TellsHealth implements HealthIndicator {

        @Override
        @RateLimited(rate = "1/h")
        public Health health() {
            return Health.up().build();
        }
    }

    static class TellsHealthReactively implements ReactiveHealthIndicator {

        @Override
        @RateLimited(rate = "1/h")
        public Mono<Health> health() {
            return Mono.just(Health.up().build());
        }
    }

    static class ChecksHealth extends AbstractHealthIndicator {

        @Override
        @RateLimited(rate = "1/h")
        protected void doHealthCheck(Health.Builder builder) {
            builder.up();
        }
    }

    static class ListensToRequests implements ServletRequestListener {

        @Override
        @RateLimited(rate = "1/h")
        public void requestInitialized(ServletRequestEvent event) {}
    }

    static class ListensToSessions implements HttpSessionListener {

        @Override
        @RateLimited(rate = "1/h")
        public void sessionCreated(HttpSessionEvent event) {}
    }

    static class IsStarted implements Lifecycle {

        @Override
        @RateLimited(rate = "1/h")
        public void start() {}

        @Override
        public void stop() {}

        @Override
        public boolean isRunning() {
            return false;
        }
    }

    static class IsCalledAfterConstruction {

        @PostConstruct
        @RateLimited(rate = "1/h")
        public void call() {}
    }

    static class IsCalledBeforeDestruction implements DisposableBean {

        @Override
        @RateLimited(rate = "1/h")
        public void destroy() {}
    }

    static class IsAFilter extends OncePerRequestFilter {

        @Override
        @RateLimited(rate = "1/h")
        protected void doFilterInternal(
                HttpServletRequest request, HttpServletResponse response, FilterChain filterChain) {}
    }

    @RateLimited(rate = "1/h")
    static class IsAnAnnotatedFilter implements Filter {

        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) {}
    }

    static class LoadsUsers implements UserDetailsService {

        @Override
        @RateLimited(rate = "1/h")
        public UserDetails loadUserByUsername(String username) {
            throw new UsernameNotFoundException(username);
        }
    }

    static class LoadsUsersOfAManager extends InMemoryUserDetailsManager {

        @Override
        @RateLimited(rate = "1/h")
        public UserDetails loadUserByUsername(String username) {
            return super.loadUserByUsername(username);
        }
    }

    interface Accounts extends UserDetailsService {

        @RateLimited(name = "register", rate = "1/h")
        default void register() {}
    }

    static class LoadsNoAccounts implements Accounts {

        @Override
        public UserDetails loadUserByUsername(String username) {
            throw new UsernameNotFoundException(username);
        }
    }

    static class LoadsAccounts extends LoadsNoAccounts {

        @Override
        @RateLimited(rate = "1/h")
        public UserDetails loadUserByUsername(String username) {
            return super.loadUserByUsername(username);
        }
    }

    static class RetrievesUsers extends AbstractUserDetailsAuthenticationProvider {

        @Override
        protected void additionalAuthenticationChecks(
                UserDetails user, UsernamePasswordAuthenticationToken authentication) {}

        @Override
        @RateLimited(rate = "1/h")
        protected UserDetails retrieveUser(String username, UsernamePasswordAuthenticationToken authentication) {
            throw new UsernameNotFoundException(username);
        }
    }

    interface LanguageConverter extends Converter<String, Locale> {}

    static class ConvertsLanguages implements LanguageConverter {

        @Override
        @RateLimited(rate = "1/h")
        public Locale convert(String source) {
            return Locale.forLanguageTag(source);
        }
    }

    static class ConvertsUnderCondition implements ConditionalGenericConverter {

        @Override
        public boolean matches(TypeDescriptor source, TypeDescriptor target) {
            return true;
        }

        @Override
        public Set<ConvertiblePair> getConvertibleTypes() {
            return Set.of();
        }

        @Override
        @RateLimited(rate = "1/h")
        public Object convert(Object source, TypeDescriptor sourceType, TypeDescriptor targetType) {
            return source;
        }
    }

    static class Formats implements Formatter<Locale> {

        @Override
        @RateLimited(rate = "1/h")
        public Locale parse(String text, Locale locale) {
            return Locale.forLanguageTag(text);
        }

        @Override
        public String print(Locale object, Locale locale) {
            return object.toLanguageTag();
        }
    }

    static class Converts implements Converter<String, Locale> {

        @Override
        @RateLimited(rate = "1/h")
        public Locale convert(String source) {
            return Locale.forLanguageTag(source);
        }
    }

    static class Listens {

        @EventListener
        @RateLimited(rate = "1/h")
        public void call(String event) {}

        public void adviceRuns() {}
    }

    static class PostProcesses implements BeanPostProcessor, PriorityOrdered {

        @Override
        public int getOrder() {
            return 0;
        }

        @RateLimited(rate = "1/h")
        public void call() {}
    }

    static class HandlesExceptions {

        @ExceptionHandler
        @RateLimited(rate = "1/h")
        public void call() {}
    }

    static class HandlesExceptionsOfMessages {

        @MessageExceptionHandler
        @RateLimited(rate = "1/h")
        public void call() {}
    }

    static class ChangesBodies implements ResponseBodyAdvice<String> {

        @Override
        public boolean supports(MethodParameter result, Class<? extends HttpMessageConverter<?>> converter) {
            return true;
        }

        @Override
        @RateLimited(rate = "1/h")
        public String beforeBodyWrite(
                String body,
                MethodParameter result,
                MediaType type,
                Class<? extends HttpMessageConverter<?>> converter,
                ServerHttpRequest request,
                ServerHttpResponse response) {
            return body;
        }
    }
}
