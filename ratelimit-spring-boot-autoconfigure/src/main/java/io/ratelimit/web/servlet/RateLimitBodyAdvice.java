package io.ratelimit.web.servlet;

import io.ratelimit.web.WebSettings;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.http.server.ServletServerHttpRequest;
import org.springframework.http.server.ServletServerHttpResponse;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;

/** Writes the headers that other threads have recorded, before a body commits the response. */
@ControllerAdvice
public final class RateLimitBodyAdvice implements ResponseBodyAdvice<Object> {

    private final WebSettings settings;

    public RateLimitBodyAdvice(WebSettings settings) {
        this.settings = settings;
    }

    @Override
    public boolean supports(MethodParameter returnType, Class<? extends HttpMessageConverter<?>> converterType) {
        return true;
    }

    @Override
    public @Nullable Object beforeBodyWrite(
            @Nullable Object body,
            MethodParameter returnType,
            MediaType contentType,
            Class<? extends HttpMessageConverter<?>> converterType,
            ServerHttpRequest request,
            ServerHttpResponse response) {
        if (request instanceof ServletServerHttpRequest from && response instanceof ServletServerHttpResponse to) {
            ServletHeaderRecord.of(from.getServletRequest()).write(settings.headers(), to.getServletResponse());
        }
        return body;
    }
}
