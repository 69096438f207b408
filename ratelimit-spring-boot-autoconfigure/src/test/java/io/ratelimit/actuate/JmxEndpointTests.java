package io.ratelimit.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ratelimit.testing.LongRunning;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import javax.management.JMException;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanParameterInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;

@LongRunning
class JmxEndpointTests {

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();

    @Test
    @SuppressWarnings("unchecked")
    void readsAndChangesOverJmx() throws JMException {
        try (EndpointApplication application = application("unrestricted")) {
            assertThat(application.context().isActive()).isTrue();
            assertThat((Map<String, Object>) invoke("limits")).containsKeys("store", "instance", "limits");
            assertThat((Map<String, Object>) invoke("limit", "quotes", null)).containsEntry("capacity", 5L);
            assertThat((Map<String, Object>) invoke("change", "limit", "quotes", "capacity", 9L, "principal", "alice"))
                    .containsEntry("capacity", 9L)
                    .hasEntrySatisfying(
                            "override",
                            override ->
                                    assertThat((Map<String, Object>) override).containsEntry("principal", "alice"));
            assertThat((Map<String, Object>) invoke("change", "limit", "quotes", "key", "alice", "blockFor", "10m"))
                    .containsKey("blockedUntil");
            assertThat((Map<String, Object>) invoke("remove", "quotes", null, null, null))
                    .containsEntry("capacity", 5L);
            assertThatThrownBy(() -> invoke("limit", "quote", null)).hasMessageContaining("did you mean 'quotes'?");
        }
    }

    @Test
    void withoutAccessThereAreReadOperationsAlone() throws JMException {
        try (EndpointApplication application = application("read-only")) {
            assertThat(application.context().isActive()).isTrue();
            assertThat(server.getMBeanInfo(name()).getOperations())
                    .extracting(MBeanOperationInfo::getName)
                    .containsExactlyInAnyOrder("limits", "limit");
        }
    }

    private static EndpointApplication application(String access) {
        return new EndpointApplication(
                WebApplicationType.NONE,
                "spring.jmx.enabled=true",
                "management.endpoints.jmx.exposure.include=ratelimits",
                "management.endpoint.ratelimits.access=" + access,
                "ratelimit.limits.quotes.capacity=5");
    }

    private Object invoke(String operation, Object... arguments) throws JMException {
        return server.invoke(name(), operation, arguments(operation, arguments), null);
    }

    /** @param arguments as they are declared, or for an operation with many, names and values in turns */
    private Object[] arguments(String operation, Object... arguments) throws JMException {
        if (!operation.equals("change")) {
            return arguments;
        }
        MBeanOperationInfo change = Arrays.stream(server.getMBeanInfo(name()).getOperations())
                .filter(each -> each.getName().equals(operation))
                .findFirst()
                .orElseThrow();
        return Arrays.stream(change.getSignature())
                .map(MBeanParameterInfo::getName)
                .map(name -> {
                    int index = Arrays.asList(arguments).indexOf(name);
                    return index < 0 ? null : arguments[index + 1];
                })
                .toArray();
    }

    private ObjectName name() throws JMException {
        Set<ObjectName> names =
                server.queryNames(new ObjectName("org.springframework.boot:type=Endpoint,name=Ratelimits,*"), null);
        assertThat(names).hasSize(1);
        return names.iterator().next();
    }
}
