package io.ratelimit.test.shop;

import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import io.ratelimit.test.DisableRateLimits;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.web.servlet.MockMvc;

@WebMvcTest(QuoteController.class)
@DisableRateLimits
class DisabledSliceTests {

    @MockitoBean
    ExportService exports;

    @Test
    void sliceIsNotLimited(@Autowired MockMvc mvc) throws Exception {
        for (int i = 0; i < 3; i++) {
            mvc.perform(get("/quotes?user=alice")).andExpect(status().isOk());
        }
    }
}
