package io.ratelimit.redis.connection;

import io.ratelimit.redis.RedisTopology;
import io.ratelimit.redis.door.RedisFailureMapper;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.core.script.DefaultScriptExecutor;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializer;

/** Sends the text of scripts to servers and proxies that do not run {@code EVALSHA}, and their digest to others. */
final class TextScriptExecutor extends DefaultScriptExecutor<String> {

    private final Digests digests = new Digests();

    TextScriptExecutor(RedisTemplate<String, ?> template) {
        super(template);
    }

    Digests digests() {
        return digests;
    }

    /** Runs the script that decides, whose keys and arguments are bytes. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    @Nullable
    List<Long> eval(RedisConnection connection, RedisScript<List<Long>> script, int keys, byte[][] keysAndArguments) {
        return eval(connection, script, ReturnType.MULTI, keys, keysAndArguments, (RedisSerializer)
                RedisSerializer.byteArray());
    }

    @Override
    protected <T> @Nullable T eval(
            RedisConnection connection,
            RedisScript<T> script,
            ReturnType returned,
            int keys,
            byte[][] keysAndArguments,
            RedisSerializer<T> serializer) {
        if (!digests.areRefused()) {
            try {
                T reply = super.eval(connection, script, returned, keys, keysAndArguments, serializer);
                digests.answered = true;
                return reply;
            } catch (RuntimeException ex) {
                if (!digests.areRefusedBy(ex)) {
                    digests.digestFailed(ex);
                    throw ex;
                }
            }
        }
        byte[] text = script.getScriptAsString().getBytes(StandardCharsets.UTF_8);
        Object reply;
        try {
            reply = connection.scriptingCommands().eval(text, returned, keys, keysAndArguments);
        } catch (RuntimeException ex) {
            digests.textFailed(ex);
            throw ex;
        }
        return reply == null ? null : deserializeResult(serializer, reply);
    }

    /** Knows whether the server runs scripts by their digests. */
    static final class Digests {

        private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

        /** Replies that name the command, without its arguments, and are not those of a script. */
        private static final Pattern REFUSED = Pattern.compile("(?i)^(?!.*user_script)[^,]*\\bevalsha\\b");

        private volatile boolean refused;

        /** Whether a script has run by its digest. A proxy that closes the connection instead runs none. */
        private volatile boolean answered;

        boolean areRefused() {
            return refused;
        }

        /** Returns whether the call has not run, because the server does not run {@code EVALSHA}. */
        boolean areRefusedBy(Throwable thrown) {
            Throwable reply = NestedExceptionUtils.getMostSpecificCause(thrown);
            boolean named = REFUSED.matcher(String.valueOf(reply.getMessage())).find();
            if (named) {
                refuse(thrown);
            }
            return named;
        }

        /** The call may have run, so it fails. If none has, the connection was closed for its command. */
        private void digestFailed(Throwable thrown) {
            if (!answered && RedisFailureMapper.isConnectionLost(thrown)) {
                refuse(thrown);
            }
        }

        /** A text failed in the same way, so that it is the server that is gone, and not the command. */
        private void textFailed(Throwable thrown) {
            if (!answered && RedisFailureMapper.isConnectionLost(thrown)) {
                refused = false;
            }
        }

        private void refuse(Throwable thrown) {
            if (!refused) {
                refused = true;
                String reply =
                        RedisFailureMapper.of(RedisTopology.REDIS, thrown).getMessage();
                logger.log(
                        Level.INFO,
                        "Calls send the text of the script, because Redis does not run EVALSHA (" + reply + ")");
            }
        }
    }
}
