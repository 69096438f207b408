package io.ratelimit.aop

import java.util.concurrent.CompletableFuture
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.DelicateCoroutinesApi
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.GlobalScope
import kotlinx.coroutines.future.future
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.toList

/** Lets tests in Java call functions that suspend, and cancel them. */
object Coroutine {

    /** Begins on the calling thread; cancelling the future cancels the coroutine. */
    @JvmStatic
    @OptIn(DelicateCoroutinesApi::class)
    fun <T> start(block: suspend CoroutineScope.() -> T): CompletableFuture<T> =
        GlobalScope.future(Dispatchers.Unconfined, block = block)

    @JvmStatic fun quote(quotes: KotlinQuotes, userId: String) = start { quotes.quote(userId) }

    @JvmStatic fun byPosition(quotes: KotlinQuotes, userId: String) = start { quotes.byPosition(userId, 3) }

    @JvmStatic fun nothing(quotes: KotlinQuotes) = start { quotes.nothing() }

    @JvmStatic fun nullable(quotes: KotlinQuotes) = start { quotes.nullable() }

    @JvmStatic fun collect(flow: Flow<String>) = start { flow.toList() }

    @JvmStatic fun suspendingFlow(quotes: KotlinQuotes) = start { quotes.suspendingFlow().toList() }

    @JvmStatic fun orStale(quotes: KotlinQuotes) = start { quotes.orStale("alice") }

    @JvmStatic fun orExplained(quotes: KotlinQuotes) = start { quotes.orExplained("alice") }

    @JvmStatic fun failing(quotes: KotlinQuotes) = start { quotes.failing() }

    @JvmStatic fun hanging(quotes: KotlinQuotes) = start { quotes.hanging() }

    @JvmStatic fun price(prices: Prices, symbol: String) = start { prices.price(symbol) }

    @JvmStatic fun quoteFor(quotes: QuotesByValueClass, userId: String): String = quotes.quote(UserId(userId))
}
