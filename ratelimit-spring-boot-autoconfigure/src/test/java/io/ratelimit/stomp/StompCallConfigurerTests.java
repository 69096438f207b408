package io.ratelimit.stomp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.mock;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.web.socket.WebSocketHandler;
import org.springframework.web.socket.WebSocketSession;

class StompCallConfigurerTests {

    private static Map<String, Object> attributes(InetSocketAddress address) throws Exception {
        Map<String, Object> attributes = new HashMap<>();
        WebSocketSession session = mock(WebSocketSession.class);
        doReturn(attributes).when(session).getAttributes();
        doReturn(address).when(session).getRemoteAddress();
        new StompCallConfigurer.AddressedHandler(mock(WebSocketHandler.class)).afterConnectionEstablished(session);
        return attributes;
    }

    @Test
    void sessionKnowsItsAddress() throws Exception {
        assertThat(attributes(new InetSocketAddress("192.0.2.7", 1))).containsEntry(StompCall.ADDRESS, "192.0.2.7");
    }

    /** As of a proxy that hides its clients. */
    @Test
    void addressMayBeAnyText() throws Exception {
        assertThat(attributes(InetSocketAddress.createUnresolved("unknown", 1)))
                .containsEntry(StompCall.ADDRESS, "unknown");
    }
}
