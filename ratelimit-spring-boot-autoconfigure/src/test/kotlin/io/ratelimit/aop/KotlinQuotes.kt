package io.ratelimit.aop

import io.ratelimit.RateLimitExceededException
import io.ratelimit.annotation.RateLimited
import java.io.IOException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CopyOnWriteArrayList
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.yield

/** Functions that are limited, as Kotlin's users write them. */
open class KotlinQuotes {

    private val events = CopyOnWriteArrayList<String>()

    open fun events(): MutableList<String> = events

    /** The future may complete after the function has ended. */
    open suspend fun future(): CompletableFuture<String> {
        yield()
        return CompletableFuture()
    }

    @RateLimited(name = "quotes", rate = "1/s", keyExpression = "#userId")
    open suspend fun quote(userId: String): String {
        events += "ran"
        yield()
        return "quote for $userId"
    }

    @RateLimited(rate = "1/s", keyExpression = "#p0 + '-' + #root.args.length")
    open suspend fun byPosition(userId: String, count: Int): Int {
        yield()
        return count
    }

    @RateLimited(name = "units", rate = "1/s")
    open suspend fun nothing() {
        events += "ran"
        yield()
    }

    @RateLimited(name = "nullables", rate = "1/s")
    open suspend fun nullable(): String? {
        events += "ran"
        yield()
        return null
    }

    @RateLimited(name = "flows", rate = "1/s")
    open fun flow(): Flow<String> = flow {
        events += "ran"
        emit("first")
        emit("second")
    }

    @RateLimited(name = "suspending-flows", rate = "1/s")
    open suspend fun suspendingFlow(): Flow<String> {
        events += "ran"
        yield()
        return flowOf("first", "second")
    }

    @RateLimited(name = "stale", rate = "1/s", fallbackMethod = "stale")
    open suspend fun orStale(userId: String): String {
        yield()
        return "fresh for $userId"
    }

    private suspend fun stale(userId: String): String {
        yield()
        return "stale for $userId"
    }

    @RateLimited(name = "explained", rate = "1/s", fallbackMethod = "explain")
    open suspend fun orExplained(userId: String): String {
        yield()
        return "fresh for $userId"
    }

    protected open suspend fun explain(userId: String, rejection: RateLimitExceededException): String {
        yield()
        return "$userId: ${rejection.limitName}"
    }

    @RateLimited(name = "failing", rate = "1/s", refundOn = [IOException::class])
    open suspend fun failing(): String {
        yield()
        throw IOException("broken")
    }

    @RateLimited(name = "hanging", rate = "1/s", refundOn = [Exception::class])
    open suspend fun hanging(): String {
        events += "ran"
        return CompletableDeferred<String>().await()
    }
}

interface Prices {

    @RateLimited(name = "prices", rate = "1/s", keyExpression = "#symbol")
    suspend fun price(symbol: String): Int
}

/** Final, as every class in Kotlin unless it says otherwise. */
class FinalPrices : Prices {

    override suspend fun price(symbol: String): Int {
        yield()
        return symbol.length
    }
}

class FinalQuotes {

    @RateLimited(rate = "1/s")
    fun quote() = "quote"
}

open class WithFinalFunction {

    @RateLimited(rate = "1/s")
    suspend fun quote() {
        yield()
    }
}

@JvmInline
value class UserId(val id: String)

open class QuotesByValueClass {

    @RateLimited(rate = "1/s", keyExpression = "#user", fallbackMethod = "stale")
    open fun quote(user: UserId): String = "quote for ${user.id}"

    open fun stale(user: UserId): String = "stale for ${user.id}"

    @RateLimited(rate = "1/s")
    internal open fun inTheModule(): String = "internal"
}

open class ReadsAPropertyOfAValueClass {

    @RateLimited(rate = "1/s", keyExpression = "#user.id")
    open fun quote(user: UserId): String = "quote for ${user.id}"
}

open class ReadsAPropertyOfAValueClassAndSuspends {

    @RateLimited(rate = "1/s", keyExpression = "#user.id")
    open suspend fun quote(user: UserId): String {
        yield()
        return "quote for ${user.id}"
    }
}

open class WithOrdinaryFallback {

    @RateLimited(rate = "1/s", fallbackMethod = "stale")
    open suspend fun quote(userId: String): String {
        yield()
        return userId
    }

    open fun stale(userId: String): String = userId
}

open class WithFallbackOfAnotherType {

    @RateLimited(rate = "1/s", fallbackMethod = "stale")
    open suspend fun quote(userId: String): String {
        yield()
        return userId
    }

    open suspend fun stale(userId: String): Int {
        yield()
        return userId.length
    }
}

open class NamesTheContinuation {

    @RateLimited(rate = "1/s", keyExpression = "#p1")
    open suspend fun quote(userId: String): String {
        yield()
        return userId
    }
}
