package io.ratelimit.autoconfigure;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ClassUtils;

/** An application with caches that knows nothing of rate limits, and lists its beans. */
public final class ApplicationBeans {

    private ApplicationBeans() {}

    /** Starts it, and returns a line for each bean: its name and its type. */
    public static String run(String... arguments) throws ReflectiveOperationException {
        String tomcat = "org.apache.catalina.webresources.TomcatURLStreamHandlerFactory";
        if (ClassUtils.isPresent(tomcat, ApplicationBeans.class.getClassLoader())) {
            // There can be one in a JVM, but a Tomcat in each class loader.
            Class.forName(tomcat).getMethod("disable").invoke(null);
        }
        try (ConfigurableApplicationContext context = new SpringApplication(Application.class).run(arguments)) {
            Vets vets = context.getBean(Vets.class);
            Vet ann = vets.find("ann");
            if (ann != vets.find("ann")) {
                throw new IllegalStateException("Not cached in memory by "
                        + context.getBean(CacheManager.class).getClass());
            }
            return Arrays.stream(context.getBeanDefinitionNames())
                    .map(name -> name + " " + context.getType(name))
                    .map(line -> line.replaceAll("\\$\\$.*", "").replaceAll("\\$Proxy\\d+", ""))
                    .sorted()
                    .collect(Collectors.joining("\n"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableCaching
    static class Application {

        @Bean
        Vets vets() {
            return new Vets();
        }
    }

    static class Vets {

        @Cacheable("vets")
        public Vet find(String name) {
            return new Vet();
        }
    }

    /** Not serializable, so that it cannot be in Redis. */
    static final class Vet {}
}
