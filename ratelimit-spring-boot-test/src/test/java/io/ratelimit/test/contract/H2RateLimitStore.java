package io.ratelimit.test.contract;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitAlgorithm.State;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.Refill;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.KeyDigest;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.ReceiptRefund;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Function;
import javax.sql.DataSource;

/** Token buckets and algorithms of the application in a relational database. A bucket is a row, which a transaction locks. */
class H2RateLimitStore implements RateLimitStore {

    static final String TABLE = "CREATE TABLE IF NOT EXISTS bucket"
            + " (id VARCHAR(200) PRIMARY KEY, numbers VARCHAR(200), used BIGINT, since BIGINT, rest BIGINT)";

    private static final String INSERT = "INSERT INTO bucket VALUES (?, '', 0, 0, 0)";

    private static final String SELECT = "SELECT numbers, used, since, rest FROM bucket WHERE id = ?";

    private static final String UPDATE = "UPDATE bucket SET numbers = ?, used = ?, since = ?, rest = ? WHERE id = ?";

    private final DataSource database;

    private final TimeSource time;

    /** Wait for the database instead of callers that must not block. */
    private final Executor threads = ForkJoinPool.commonPool();

    H2RateLimitStore(DataSource database, TimeSource time) {
        this.database = database;
        this.time = time;
    }

    static boolean supports(RateLimit limit) {
        return (limit.algorithm() == Algorithm.TOKEN_BUCKET || limit.ownAlgorithm() != null)
                && limit.refill() == Refill.CONTINUOUS
                && limit.maxWait().isZero()
                && limit.blockFor().isEmpty();
    }

    /** A caller that must not block has another thread wait for the database. */
    @Override
    public StoreAnswer decide(StoreRequest request) {
        return StoreAnswer.of(
                () -> decided(request), () -> CompletableFuture.supplyAsync(() -> decided(request), threads));
    }

    private StoreOutcome decided(StoreRequest request) {
        List<Charge> charges = request.charges();
        return locking(charges, rows -> {
            boolean rejected = StoreOutcome.isRejected(charges, i -> rows.get(i).holds(charges.get(i)));
            List<RateLimitDecision> decisions = new ArrayList<>();
            Map<Charge, State> receipts = new HashMap<>();
            for (int i = 0; i < rows.size(); i++) {
                Charge charge = charges.get(i);
                H2Row row = rows.get(i);
                boolean available = row.holds(charge);
                if (!request.isPeek() && StoreOutcome.isCharged(charge, available, rejected) && charge.permits() > 0) {
                    row.take(charge.permits());
                    receipts.put(charge, row.state());
                }
                decisions.add(row.decision(available, charge.permits()));
            }
            Refund refund = request.refundable() ? new ReceiptRefund<>(receipts, this::refund) : Refund.NONE;
            return StoreOutcome.of(request, decisions, refund);
        });
    }

    CompletionStage<Void> refund(Map<Charge, State> receipts, Map<Charge, Long> permits) {
        List<Charge> charges = List.copyOf(receipts.keySet());
        return change(charges, (charge, row) -> row.refund(permits.get(charge), receipts.get(charge)));
    }

    @Override
    public CompletionStage<Void> charge(Charge charge) {
        return change(List.of(charge), (ignored, row) -> row.take(charge.permits()));
    }

    /** Looks at buckets, grants permits, and resets. */
    @Override
    public CompletionStage<BucketStatus> change(RateLimit limit, String key, BucketChange change) {
        return switch (change.kind()) {
            case NONE, GRANT, RESET ->
                CompletableFuture.supplyAsync(
                        () -> locking(
                                List.of(new Charge(limit, key, 0)),
                                rows -> rows.get(0).change(change)),
                        threads);
            case BLOCK, UNBLOCK ->
                CompletableFuture.failedFuture(new UnsupportedOperationException("Keys cannot be blocked"));
        };
    }

    @Override
    public CompletionStage<Void> check() {
        return change(List.of(), (charge, row) -> {});
    }

    private interface Change {

        void apply(Charge charge, H2Row row);
    }

    private CompletionStage<Void> change(List<Charge> charges, Change change) {
        return CompletableFuture.supplyAsync(
                () -> locking(charges, rows -> {
                    for (int i = 0; i < rows.size(); i++) {
                        change.apply(charges.get(i), rows.get(i));
                    }
                    return null;
                }),
                threads);
    }

    /** Locks the rows, always in the same order, does the work, and writes them. */
    private <T> T locking(List<Charge> charges, Function<List<H2Row>, T> work) {
        Map<String, H2Row> rows = new TreeMap<>();
        try (Connection connection = database.getConnection()) {
            for (Charge charge : charges) {
                if (!supports(charge.limit())) {
                    throw new UnsupportedOperationException(
                            "Limit '" + charge.limit().name() + "' is not supported");
                }
                rows.put(id(charge), new H2Row(charge.limit()));
            }
            for (String id : rows.keySet()) {
                insert(connection, id);
            }
            connection.setAutoCommit(false);
            try {
                for (Map.Entry<String, H2Row> row : rows.entrySet()) {
                    read(connection, row.getKey(), row.getValue());
                }
                T result = work.apply(
                        charges.stream().map(charge -> rows.get(id(charge))).toList());
                for (Map.Entry<String, H2Row> row : rows.entrySet()) {
                    update(connection, row.getKey(), row.getValue());
                }
                connection.commit();
                return result;
            } finally {
                connection.rollback();
                connection.setAutoCommit(true);
            }
        } catch (SQLException ex) {
            throw new RateLimitStoreException(Reason.ERROR, "The database fails with " + ex.getSQLState(), ex);
        }
    }

    /** Keys have any length, and any characters. */
    String id(Charge charge) {
        return charge.limit().id() + (charge.key() == null ? "" : ":" + KeyDigest.of(charge.key()));
    }

    /** In a transaction of its own: others may insert the same row. */
    private static void insert(Connection connection, String id) throws SQLException {
        try (PreparedStatement exists = connection.prepareStatement("SELECT 1 FROM bucket WHERE id = ?");
                PreparedStatement insert = connection.prepareStatement(INSERT)) {
            exists.setString(1, id);
            insert.setString(1, id);
            if (!exists.executeQuery().next()) {
                insert.executeUpdate();
            }
        } catch (SQLIntegrityConstraintViolationException ex) {
            // Another has inserted it.
        }
    }

    String lock() {
        return " FOR UPDATE";
    }

    private void read(Connection connection, String id, H2Row row) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(SELECT + lock())) {
            select.setString(1, id);
            ResultSet found = select.executeQuery();
            found.next();
            row.read(found.getString(1), found.getLong(2), found.getLong(3), found.getLong(4), time.micros());
        }
    }

    private static void update(Connection connection, String id, H2Row row) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement(UPDATE)) {
            update.setString(1, row.numbers());
            update.setLong(2, row.state().used());
            update.setLong(3, row.state().since());
            update.setLong(4, row.state().rest());
            update.setString(5, id);
            update.executeUpdate();
        }
    }
}
