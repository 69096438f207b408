package io.ratelimit.aop

import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.yield

/** A service in Kotlin: a function that suspends, and one that returns a stream. */
open class SuspendingQuotes {

    open suspend fun quote(userId: String): String {
        // Without a call that suspends, the compiler would leave an ordinary method.
        yield()
        return "quote for $userId"
    }

    open fun quotes(userId: String): Flow<String> = flowOf("first for $userId", "second for $userId")
}
