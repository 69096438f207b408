package io.ratelimit.web.servlet;

import io.ratelimit.web.RateLimitHeaders;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;

/** Writes the headers of a request's record before anything can commit the response. */
final class HeaderWritingResponse extends HttpServletResponseWrapper {

    private final ServletHeaderRecord record;

    private final RateLimitHeaders headers;

    HeaderWritingResponse(HttpServletResponse response, ServletHeaderRecord record, RateLimitHeaders headers) {
        super(response);
        this.record = record;
        this.headers = headers;
    }

    @Override
    public ServletOutputStream getOutputStream() throws IOException {
        writeHeaders(getStatus());
        ServletOutputStream stream = super.getOutputStream();
        RequestCompletion completion = record.followed();
        return completion == null ? stream : new FailureNotingOutputStream(stream, completion);
    }

    /** A writer throws nothing: it has to be asked whether it has failed. */
    @Override
    public PrintWriter getWriter() throws IOException {
        writeHeaders(getStatus());
        PrintWriter writer = super.getWriter();
        RequestCompletion completion = record.followed();
        return completion == null
                ? writer
                : new PrintWriter(writer) {
                    @Override
                    public void flush() {
                        checkError();
                    }

                    /** Flushes the writer, too. */
                    @Override
                    public boolean checkError() {
                        boolean failed = writer.checkError();
                        if (failed) {
                            completion.writeFailed();
                        }
                        return failed;
                    }

                    /** By the locale that a container may take from the response. */
                    @Override
                    public PrintWriter format(String format, @Nullable Object... arguments) {
                        writer.format(format, arguments);
                        return this;
                    }
                };
    }

    @Override
    public void flushBuffer() throws IOException {
        writeHeaders(getStatus());
        FailureNotingOutputStream.write(record.followed(), super::flushBuffer);
    }

    @Override
    public void sendError(int status) throws IOException {
        writeHeaders(status);
        super.sendError(status);
    }

    @Override
    public void sendError(int status, String message) throws IOException {
        writeHeaders(status);
        super.sendError(status, message);
    }

    @Override
    public void reset() {
        super.reset();
        record.rewrite();
    }

    private void writeHeaders(int status) {
        record.write(headers, (HttpServletResponse) getResponse(), status);
    }
}
