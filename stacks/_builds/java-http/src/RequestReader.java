import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Finds the requests in what arrives on one connection. Holds one head of at most 8 KiB; bodies are passed over. */
final class RequestReader {
    private static final int HEAD_MAX = 8192;
    private static final String LINE_END = "\r\n";

    private final byte[] bytes = new byte[HEAD_MAX];
    private int filled;
    /** How far there is no end of a head. */
    private int searched;
    /** The request whose body is being passed over, and how much of it is still to come. */
    private Request withBody;
    private long bodyLeft;

    byte[] bytes() {
        return bytes;
    }

    int filled() {
        return filled;
    }

    /** Never 0 after {@link #next} returned null. */
    int free() {
        return bytes.length - filled;
    }

    /** What is to be filled next, as a buffer over {@link #bytes}. */
    ByteBuffer space() {
        return ByteBuffer.wrap(bytes, filled, free());
    }

    /** Takes note of so many bytes more. */
    void arrived(int count) {
        filled += count;
    }

    /** The next request that has arrived whole, or null. */
    Request next() {
        if (withBody != null) {
            return passOverBody();
        }
        int end = endOfHead();
        if (end < 0) {
            return filled == HEAD_MAX ? Request.refused("431 Request Header Fields Too Large") : null;
        }
        String head = new String(bytes, 0, end, StandardCharsets.ISO_8859_1);
        drop(end);
        searched = 0;
        return parse(head);
    }

    private Request passOverBody() {
        int there = (int) Math.min(bodyLeft, filled);
        drop(there);
        bodyLeft -= there;
        if (bodyLeft > 0) {
            return null;
        }
        Request request = withBody;
        withBody = null;
        return request;
    }

    /** Behind the empty line, or -1. */
    private int endOfHead() {
        for (int at = searched; at + 4 <= filled; at++) {
            if (bytes[at] == '\r' && bytes[at + 1] == '\n' && bytes[at + 2] == '\r' && bytes[at + 3] == '\n') {
                return at + 4;
            }
        }
        searched = Math.max(0, filled - 3);
        return -1;
    }

    private void drop(int count) {
        filled -= count;
        if (filled > 0) {
            System.arraycopy(bytes, count, bytes, 0, filled);
        }
    }

    private Request parse(String head) {
        int lineEnd = head.indexOf(LINE_END);
        String[] words = head.substring(0, lineEnd).split(" ");
        if (words.length != 3 || !words[2].startsWith("HTTP/1.")) {
            return Request.refused("400 Bad Request");
        }
        boolean keepsAlive = !words[2].equals("HTTP/1.0");
        long length = 0;
        int at = lineEnd + LINE_END.length();
        while ((lineEnd = head.indexOf(LINE_END, at)) > at) {
            String field = head.substring(at, lineEnd);
            if (is(field, "Connection")) {
                keepsAlive &= !value(field).equalsIgnoreCase("close");
            } else if (is(field, "Content-Length")) {
                length = length(value(field));
            } else if (is(field, "Transfer-Encoding")) {
                return Request.refused("501 Not Implemented");
            }
            at = lineEnd + LINE_END.length();
        }
        if (length < 0) {
            return Request.refused("400 Bad Request");
        }
        int query = words[1].indexOf('?');
        String path = query < 0 ? words[1] : words[1].substring(0, query);
        Request request = new Request(path, !words[0].equals("HEAD"), keepsAlive, null);
        if (length == 0) {
            return request;
        }
        withBody = request;
        bodyLeft = length;
        return passOverBody();
    }

    private static boolean is(String field, String name) {
        return field.length() > name.length() && field.charAt(name.length()) == ':'
                && field.regionMatches(true, 0, name, 0, name.length());
    }

    private static String value(String field) {
        return field.substring(field.indexOf(':') + 1).strip();
    }

    /** -1 for what is no length. */
    private static long length(String value) {
        try {
            return Long.parseUnsignedLong(value);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
