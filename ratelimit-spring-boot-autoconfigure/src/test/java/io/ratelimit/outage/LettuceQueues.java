package io.ratelimit.outage;

import io.lettuce.core.protocol.CommandHandler;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.boot.data.redis.autoconfigure.ClientResourcesBuilderCustomizer;

/** The commands that were sent over an instance's connections and still wait for a reply. */
final class LettuceQueues implements ClientResourcesBuilderCustomizer {

    private final Set<Channel> channels = ConcurrentHashMap.newKeySet();

    @Override
    public void customize(ClientResources.Builder resources) {
        resources.nettyCustomizer(new NettyCustomizer() {
            @Override
            public void afterChannelInitialized(Channel channel) {
                channels.add(channel);
            }
        });
    }

    int length() {
        return channels.stream()
                .map(channel -> channel.pipeline().get(CommandHandler.class))
                .filter(Objects::nonNull)
                .mapToInt(handler -> handler.getStack().size())
                .sum();
    }
}
