package io.ratelimit.stomp;

import io.ratelimit.expression.RequestCall;
import io.ratelimit.web.WebSettings;
import java.security.Principal;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.simp.SimpMessageHeaderAccessor;
import org.springframework.messaging.support.NativeMessageHeaderAccessor;

/**
 * A call during the handling of a STOMP message.
 *
 * @param outer the one whose handler has sent the message, if the channel has no threads of its own
 */
record StompCall(
        MessageHeaders headers,
        WebSettings settings,
        @Nullable StompCall outer) implements RequestCall {

    /** The attribute of the session that has the address. */
    static final String ADDRESS = StompCall.class.getName() + ".address";

    /** The address of the handshake. */
    @Override
    public String clientIp() {
        Map<String, Object> session = SimpMessageHeaderAccessor.getSessionAttributes(headers);
        return settings.clientAddress(session == null ? null : (String) session.get(ADDRESS));
    }

    @Override
    public @Nullable Principal principal() {
        return SimpMessageHeaderAccessor.getUser(headers);
    }

    /** A header of the frame. */
    @Override
    public @Nullable String header(String name) {
        return NativeMessageHeaderAccessor.getFirstNativeHeader(name, headers);
    }
}
