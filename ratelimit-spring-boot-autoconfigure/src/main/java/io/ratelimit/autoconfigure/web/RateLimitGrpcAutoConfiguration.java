package io.ratelimit.autoconfigure.web;

import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.grpc.GrpcRejectionHandler;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.grpc.server.exception.GrpcExceptionHandler;

/** Auto-configuration of the statuses with which Spring gRPC answers rejections. Comes before that of gRPC, which looks for handlers. */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@AutoConfigureOrder(-1)
@ConditionalOnClass(GrpcExceptionHandler.class)
@ConditionalOnBean(name = RateLimitAutoConfiguration.CATALOG, search = SearchStrategy.CURRENT)
public final class RateLimitGrpcAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    GrpcRejectionHandler rateLimitGrpcRejectionHandler(ObjectProvider<GrpcExceptionHandler> all) {
        return new GrpcRejectionHandler(all);
    }
}
