package io.ratelimit.test.shop;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** A slice whose only limited bean is a mock misses nothing. */
@ExtendWith(OutputCaptureExtension.class)
@WebMvcTest(controllers = ShopApplication.class, properties = "ratelimit.enabled=true")
class MockedSliceTests {

    @MockitoBean
    ExportService exports;

    @Test
    void logSaysNothing(CapturedOutput output) {
        assertThat(output).contains("Starting MockedSliceTests").doesNotContain("Rate limits are off");
    }
}
