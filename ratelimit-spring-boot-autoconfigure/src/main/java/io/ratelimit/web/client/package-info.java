/** Limits calls to other applications by RestClient, RestTemplate and WebClient. */
@NullMarked
package io.ratelimit.web.client;

import org.jspecify.annotations.NullMarked;
