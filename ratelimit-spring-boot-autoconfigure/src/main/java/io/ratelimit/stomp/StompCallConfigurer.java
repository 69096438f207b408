package io.ratelimit.stomp;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.springframework.messaging.simp.config.ChannelRegistration;
import org.springframework.web.socket.WebSocketHandler;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.config.annotation.WebSocketMessageBrokerConfigurer;
import org.springframework.web.socket.config.annotation.WebSocketTransportRegistration;
import org.springframework.web.socket.handler.WebSocketHandlerDecorator;

/** Lets each session know its address, and each handler its message. */
public record StompCallConfigurer(StompCallSource source) implements WebSocketMessageBrokerConfigurer {

    @Override
    public void configureClientInboundChannel(ChannelRegistration registration) {
        registration.interceptors(source);
    }

    @Override
    public void configureWebSocketTransport(WebSocketTransportRegistration registration) {
        registration.addDecoratorFactory(AddressedHandler::new);
    }

    static final class AddressedHandler extends WebSocketHandlerDecorator {

        AddressedHandler(WebSocketHandler handler) {
            super(handler);
        }

        @Override
        public void afterConnectionEstablished(WebSocketSession session) throws Exception {
            InetSocketAddress address = session.getRemoteAddress();
            if (address != null) {
                InetAddress ip = address.getAddress();
                session.getAttributes()
                        // The text of a proxy's header may be no address, such as "unknown".
                        .put(StompCall.ADDRESS, ip == null ? address.getHostString() : ip.getHostAddress());
            }
            super.afterConnectionEstablished(session);
        }
    }
}
