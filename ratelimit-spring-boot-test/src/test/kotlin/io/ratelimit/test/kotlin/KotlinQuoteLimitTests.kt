package io.ratelimit.test.kotlin

import io.ratelimit.annotation.RateLimited
import io.ratelimit.test.AutoConfigureRateLimits
import io.ratelimit.test.MutableTimeSource
import java.time.Duration
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.boot.autoconfigure.SpringBootApplication
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest
import org.springframework.http.HttpStatus
import org.springframework.test.web.servlet.assertj.MockMvcTester
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.RequestParam
import org.springframework.web.bind.annotation.RestController

@SpringBootApplication
open class KotlinApplication

@RestController
open class KotlinQuoteController {

    @GetMapping("/quotes")
    @RateLimited(name = "quotes", rate = "2/m", keyExpression = "#user")
    open fun quote(@RequestParam user: String): String = "quote for $user"
}

@WebMvcTest(KotlinQuoteController::class)
@AutoConfigureRateLimits
class KotlinQuoteLimitTests {

    @Autowired
    lateinit var mvc: MockMvcTester

    @Autowired
    lateinit var time: MutableTimeSource

    @Test
    fun `two quotes a minute`() {
        assertThat(mvc.get().uri("/quotes?user=alice")).hasStatusOk()
        assertThat(mvc.get().uri("/quotes?user=alice")).hasStatusOk()
        assertThat(mvc.get().uri("/quotes?user=alice")).hasStatus(HttpStatus.TOO_MANY_REQUESTS)

        time.advance(Duration.ofSeconds(30))

        assertThat(mvc.get().uri("/quotes?user=alice")).hasStatusOk()
    }
}
