package io.ratelimit.test.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.web.servlet.MockMvc;

/** Without an annotation of the module: the slice is not limited, and the log says so. */
@ExtendWith(OutputCaptureExtension.class)
@WebMvcTest(controllers = QuoteController.class, properties = "ratelimit.enabled=true")
class UnlimitedSliceTests {

    @MockitoBean
    ExportService exports;

    @Test
    void logSaysThatLimitsAreOff(@Autowired MockMvc mvc, CapturedOutput output) throws Exception {
        for (int i = 0; i < 3; i++) {
            mvc.perform(get("/quotes?user=alice")).andExpect(status().isOk());
        }

        assertThat(output.toString().lines())
                .filteredOn(line -> line.contains("Rate limits are off in this application context"))
                .singleElement()
                .asString()
                .contains("WARN", QuoteController.class.getName());
    }
}
