package io.ratelimit.actuate;

import static io.ratelimit.autoconfigure.LimitedContexts.inMemory;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.LimitAttributes;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.actuate.LimitDescriptor.PlanDescriptor;
import io.ratelimit.internal.limit.Attribute;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The endpoint shows, and changes, what the table of attributes has. */
class LimitDescriptorTests {

    private static final List<String> CHANGEABLE =
            LimitAttributes.changeable().stream().map(Attribute::name).toList();

    @Test
    void limitIsShownWithEachAttribute() {
        inMemory().withPropertyValues("ratelimit.limits.api.rate=1/s").run(context -> {
            RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
            assertThat(componentsOf(LimitDescriptor.class))
                    .containsAll(admin.status("api").origins().keySet());
        });
    }

    @Test
    void limitIsChangedByEachAttributeThatAnOverrideSets() {
        Method change = Stream.of(RateLimitsEndpoint.class.getMethods())
                .filter(method -> method.getName().equals("change"))
                .findFirst()
                .orElseThrow();
        assertThat(Stream.of(change.getParameters()).map(Parameter::getName)).containsAll(CHANGEABLE);
    }

    @Test
    void planIsShownWithEachAttributeThatItCanSet() {
        assertThat(componentsOf(PlanDescriptor.class)).containsAll(PlanDescriptor.ATTRIBUTES);
        assertThat(CHANGEABLE).containsAll(PlanDescriptor.ATTRIBUTES);
    }

    private static Stream<String> componentsOf(Class<? extends Record> type) {
        return Stream.of(type.getRecordComponents()).map(RecordComponent::getName);
    }
}
