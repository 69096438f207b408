package io.ratelimit.test.contract;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.BeforeAll;

/** The contract of a store in a database of the JVM. */
abstract class H2StoreContract extends RateLimitStoreContract {

    static final JdbcConnectionPool DATABASE =
            JdbcConnectionPool.create("jdbc:h2:mem:limits;DB_CLOSE_DELAY=-1", "sa", "");

    @BeforeAll
    static void createTable() throws SQLException {
        try (Connection connection = DATABASE.getConnection()) {
            connection.createStatement().execute(H2RateLimitStore.TABLE);
        }
    }

    @Override
    protected RateLimitStore store(TimeSource time) {
        return new H2RateLimitStore(DATABASE, time);
    }

    @Override
    protected RateLimitStore failingStore() {
        JdbcConnectionPool unreachable = JdbcConnectionPool.create("jdbc:h2:mem:unknown;IFEXISTS=TRUE", "sa", "");
        return new H2RateLimitStore(unreachable, TimeSource.monotonic());
    }

    @Override
    protected boolean supports(RateLimit limit) {
        return H2RateLimitStore.supports(limit);
    }
}
