import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * {@code Limiter PORT THREADS RATE}: a bucket of tokens, RATE more of them a second, and it holds those of a second. Each request
 * takes one or waits for it, on a thread of a pool that has more of them than there are users: RATE answers a second, however
 * many ask.
 */
public final class Limiter {
    private static final long FULL_NS = 1_000_000_000;

    private final long gapNs;
    /** When the next token is made. In the past: since then they gather, until the bucket is full. */
    private long nextNs = System.nanoTime() - FULL_NS;

    private Limiter(double rate) {
        gapNs = (long) (1e9 / rate);
    }

    /** How long to wait for the next token, which is taken. */
    private synchronized long tokenNs() {
        long now = System.nanoTime();
        long made = Math.max(nextNs, now - FULL_NS);
        nextNs = made + gapNs;
        return Math.max(0, made - now);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            TimeUnit.NANOSECONDS.sleep(tokenNs());
            byte[] body = {'h', 'e', 'l', 'l', 'o'};
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts it", e);
        }
    }

    public static void main(String[] args) throws IOException {
        Limiter limiter = new Limiter(Double.parseDouble(args[2]));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 4096);
        server.createContext("/", limiter::answer);
        server.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(args[1])));
        server.start();
    }
}
