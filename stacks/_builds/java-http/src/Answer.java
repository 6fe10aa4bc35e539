import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The answers. Each goes out in one write. */
final class Answer {
    private static final long SLEEP_MS = 100;
    private static final Answer HELLO = new Answer("200 OK", "hello,nio");
    private static final Answer VIRTUAL = new Answer("200 OK", "virtual");
    private static final Answer PLATFORM = new Answer("200 OK", "platform");
    private static final Answer NOT_FOUND = new Answer("404 Not Found", "not found");

    private final byte[] kept;
    private final byte[] last;
    private final int bodyLength;

    private Answer(String status, String body) {
        bodyLength = body.length();
        String head = "HTTP/1.1 " + status
                + "\r\nContent-Type: text/html;charset=utf-8"
                + "\r\nContent-Length: " + bodyLength;
        kept = (head + "\r\n\r\n" + body).getBytes(StandardCharsets.ISO_8859_1);
        last = (head + "\r\nConnection: close\r\n\r\n" + body).getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Does what the request asks for, on the calling thread, and gives the bytes to send. */
    static ByteBuffer to(Request request) {
        Answer answer = request.refusal() == null ? at(request.path()) : new Answer(request.refusal(), "");
        byte[] bytes = request.keepsAlive() ? answer.kept : answer.last;
        return ByteBuffer.wrap(bytes, 0, bytes.length - (request.wantsBody() ? 0 : answer.bodyLength));
    }

    private static Answer at(String path) {
        return switch (path) {
            case "/hello" -> HELLO;
            case "/sleep" -> {
                sleep();
                yield HELLO;
            }
            case "/thread" -> VirtualThreads.isOne(Thread.currentThread()) ? VIRTUAL : PLATFORM;
            default -> NOT_FOUND;
        };
    }

    private static void sleep() {
        try {
            Thread.sleep(SLEEP_MS);
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts it", e);
        }
    }
}
