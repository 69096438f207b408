/** Rejections as statuses of gRPC. */
@Internal
@NullMarked
package io.ratelimit.grpc;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;
