package io.ratelimit.stomp;

import io.ratelimit.expression.CallerRequest;
import io.ratelimit.web.WebSettings;
import java.security.Principal;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.simp.SimpMessageHeaderAccessor;
import org.springframework.messaging.support.NativeMessageHeaderAccessor;

/** Answers expressions from the headers of a STOMP message. */
record StompCaller(MessageHeaders headers, WebSettings settings) implements CallerRequest {

    /** The attribute of the session that has the address. */
    static final String ADDRESS = StompCaller.class.getName() + ".address";

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
