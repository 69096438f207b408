package io.ratelimit.web.servlet;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Notes that a write to the response has failed, which some handlers ignore. */
final class FailureNotingOutputStream extends ServletOutputStream {

    private final ServletOutputStream response;

    private final RequestCompletion completion;

    FailureNotingOutputStream(ServletOutputStream response, RequestCompletion completion) {
        this.response = response;
        this.completion = completion;
    }

    /**
     * Writes to the response, and notes a failure.
     *
     * @param completion {@code null}: it is not to be noted
     */
    static void write(@Nullable RequestCompletion completion, Write write) throws IOException {
        try {
            write.run();
        } catch (IOException ex) {
            if (completion != null) {
                completion.writeFailed();
            }
            throw ex;
        }
    }

    @Override
    public void write(int value) throws IOException {
        write(completion, () -> response.write(value));
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        write(completion, () -> response.write(bytes, offset, length));
    }

    /** New in Servlet 6.1. */
    @Override
    public void write(ByteBuffer buffer) throws IOException {
        write(completion, () -> response.write(buffer));
    }

    @Override
    public void flush() throws IOException {
        write(completion, response::flush);
    }

    @Override
    public void close() throws IOException {
        write(completion, response::close);
    }

    @Override
    public boolean isReady() {
        return response.isReady();
    }

    @Override
    public void setWriteListener(WriteListener listener) {
        response.setWriteListener(listener);
    }

    @FunctionalInterface
    interface Write {

        void run() throws IOException;
    }
}
