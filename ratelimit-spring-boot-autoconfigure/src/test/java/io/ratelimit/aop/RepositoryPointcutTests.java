package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.testing.redis.SharedRedis;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.FilterType;
import org.springframework.data.annotation.Id;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisHash;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.index.Indexed;
import org.springframework.data.redis.repository.configuration.EnableRedisRepositories;
import org.springframework.data.repository.CrudRepository;

/** A repository of Spring Data: an interface, and a class behind it that does not know the interface. */
class RepositoryPointcutTests {

    @ParameterizedTest
    @CsvSource({
        "execution(* io.ratelimit.aop.RepositoryPointcutTests.Books.*(..))",
        "execution(* org.springframework.data.repository.CrudRepository+.*(..))",
        "execution(* org.springframework.data.repository.CrudRepository.save(..)) || execution(*"
                + " io.ratelimit.aop.RepositoryPointcutTests.Books.*(..))",
    })
    void inheritedAndOwnMethodsAreLimited(String pointcut) {
        LimitedContexts.inMemory()
                .withUserConfiguration(Library.class)
                .withPropertyValues("ratelimit.limits.books.rate=2/s", "ratelimit.limits.books.pointcut=" + pointcut)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    Books books = context.getBean(Books.class);
                    books.save(new Book("1", "Ulysses"));
                    assertThat(books.findByTitle("Ulysses")).hasSize(1);
                    assertRejected("books", () -> books.save(new Book("2", "Dubliners")));
                    assertRejected("books", () -> books.findByTitle("Ulysses"));
                    assertThat(context.getBean(RecordingListener.class).outcomes())
                            .hasSize(4);
                    assertThat(context.getBean(LimitedBeans.class).check().values())
                            .flatExtracting(Map::keySet)
                            .contains(
                                    CrudRepository.class.getName() + ".save(Object)",
                                    Books.class.getName() + ".findByTitle(String)");
                });
    }

    @RedisHash("io.ratelimit.aop.books")
    record Book(@Id String id, @Indexed String title) {}

    interface Books extends CrudRepository<Book, String> {

        List<Book> findByTitle(String title);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableRedisRepositories(
            considerNestedRepositories = true,
            includeFilters = @Filter(type = FilterType.ASSIGNABLE_TYPE, classes = Books.class))
    static class Library {

        @Bean(destroyMethod = "destroy")
        RedisConnectionFactory connections() {
            return SharedRedis.get().connect();
        }

        @Bean
        StringRedisTemplate redisTemplate(RedisConnectionFactory connections) {
            return new StringRedisTemplate(connections);
        }
    }
}
