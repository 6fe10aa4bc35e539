import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The answers, in the place of the class of this name in java-http: what a request costs is said by whoever starts the
 * server. All else is java-http's.
 */
final class Answer {
    static final Answer HELLO = new Answer("200 OK", "hello");
    static final Answer VIRTUAL = new Answer("200 OK", "virtual");
    static final Answer PLATFORM = new Answer("200 OK", "platform");
    private static final Answer NOT_FOUND = new Answer("404 Not Found", "not found");

    private static volatile Map<String, Supplier<Answer>> byPath = Map.of();

    private final byte[] kept;
    private final byte[] last;
    private final int bodyLength;

    private Answer(String status, String body) {
        bodyLength = body.length();
        String head = "HTTP/1.1 " + status
                + "\r\nContent-Type: text/plain"
                + "\r\nContent-Length: " + bodyLength;
        kept = (head + "\r\n\r\n" + body).getBytes(StandardCharsets.ISO_8859_1);
        last = (head + "\r\nConnection: close\r\n\r\n" + body).getBytes(StandardCharsets.ISO_8859_1);
    }

    /** What is done for a request to each path, on the thread that answers; other paths are not found. */
    static void give(Map<String, Supplier<Answer>> answers) {
        byPath = answers;
    }

    /** Does what the request asks for, on the calling thread, and gives the bytes to send. */
    static ByteBuffer to(Request request) {
        Answer answer = request.refusal() == null
                ? byPath.getOrDefault(request.path(), () -> NOT_FOUND).get()
                : new Answer(request.refusal(), "");
        byte[] bytes = request.keepsAlive() ? answer.kept : answer.last;
        return ByteBuffer.wrap(bytes, 0, bytes.length - (request.wantsBody() ? 0 : answer.bodyLength));
    }
}
