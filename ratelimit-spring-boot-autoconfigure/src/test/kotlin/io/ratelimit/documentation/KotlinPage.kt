package io.ratelimit.documentation

import io.ratelimit.RateLimiterRegistry
import io.ratelimit.annotation.RateLimited
import java.util.concurrent.CompletableFuture
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.DelicateCoroutinesApi
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.GlobalScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.future.await
import kotlinx.coroutines.future.future
import kotlinx.coroutines.yield
import org.springframework.stereotype.Service

@Service
open class Quotes {

    @RateLimited(name = "quotes", rate = "2/m", keyExpression = "#userId", fallbackMethod = "stale")
    open suspend fun quote(userId: String): String {
        delay(1)
        return "quote for $userId"
    }

    /** Suspends, too, and has the same type. */
    private suspend fun stale(userId: String): String {
        yield()
        return "stale for $userId"
    }

    @RateLimited(name = "streams", rate = "1/m", keyExpression = "#userId")
    open fun stream(userId: String): Flow<String> = flowOf("first for $userId", "second for $userId")
}

@Service
open class Exports(registry: RateLimiterRegistry) {

    private val limiter = registry.get("exports")

    suspend fun export(tenant: String): String {
        limiter.acquireAsync(tenant).await()
        return "export for $tenant"
    }
}

/** Calls the functions of the page for a test in Java. */
object KotlinPage {

    @JvmStatic fun quote(quotes: Quotes, userId: String) = start { quotes.quote(userId) }

    @JvmStatic fun collect(flow: Flow<String>) = start { flow.toList() }

    @JvmStatic fun export(exports: Exports, tenant: String) = start { exports.export(tenant) }

    @OptIn(DelicateCoroutinesApi::class)
    private fun <T> start(block: suspend CoroutineScope.() -> T): CompletableFuture<T> =
        GlobalScope.future(Dispatchers.Default, block = block)
}
