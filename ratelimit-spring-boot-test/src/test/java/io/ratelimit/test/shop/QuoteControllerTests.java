package io.ratelimit.test.shop;

import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.header;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import io.ratelimit.test.AutoConfigureRateLimits;
import io.ratelimit.test.MutableTimeSource;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.web.servlet.MockMvc;

@WebMvcTest(QuoteController.class)
@AutoConfigureRateLimits
class QuoteControllerTests {

    @Autowired
    MockMvc mvc;

    @Autowired
    MutableTimeSource time;

    @MockitoBean
    ExportService exports;

    /** Twice: a test method finds full buckets, whatever the one before has used. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void twoQuotesAMinute(int time) throws Exception {
        quote("alice", 200);
        quote("alice", 200);
        mvc.perform(get("/quotes?user=alice"))
                .andExpect(status().isTooManyRequests())
                .andExpect(header().string("Retry-After", "30"));

        this.time.advance(Duration.ofSeconds(30));

        quote("alice", 200);
        quote("alice", 429);
        quote("bob", 200);
    }

    @Test
    void mockIsNotLimited() throws Exception {
        for (int i = 0; i < 3; i++) {
            mvc.perform(get("/exports")).andExpect(status().isOk());
        }
    }

    private void quote(String user, int status) throws Exception {
        mvc.perform(get("/quotes?user=" + user)).andExpect(status().is(status));
    }
}
