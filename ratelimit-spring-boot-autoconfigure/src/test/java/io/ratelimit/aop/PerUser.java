package io.ratelimit.aop;

import io.ratelimit.annotation.RateLimited;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/** An annotation of an application's own. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@RateLimited(name = "composed", keyExpression = "#user")
@interface PerUser {

    @AliasFor(annotation = RateLimited.class, attribute = "rate")
    String perSecond();
}
