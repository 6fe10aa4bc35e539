import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * {@code Limiter PORT THREADS RATE HOW}: a bucket of tokens, RATE more of them a second, in a server with more threads than there are
 * users: RATE answers a second, however many ask. HOW is what a request does without a token.
 *
 * <ul>
 *   <li>{@code delays}: it waits for it, on its thread; the bucket holds those of a second
 *   <li>{@code refuses}: the answer is 429, at once; the bucket holds 20
 * </ul>
 */
public final class Limiter {
    private static final byte[] HELLO = {'h', 'e', 'l', 'l', 'o'};

    private final boolean refuses;
    private final long gapNs;
    private final long fullNs;
    /** When the next token is made. In the past: since then they gather, until the bucket is full. */
    private long nextNs;

    private Limiter(double rate, boolean refuses) {
        this.refuses = refuses;
        gapNs = (long) (1e9 / rate);
        fullNs = refuses ? 20 * gapNs : 1_000_000_000;
        nextNs = System.nanoTime() - fullNs;
    }

    /** How long to wait for the next token; it is taken if somebody waits for it. */
    private synchronized long tokenNs() {
        long now = System.nanoTime();
        long made = Math.max(nextNs, now - fullNs);
        long waitNs = Math.max(0, made - now);
        if (waitNs == 0 || !refuses) {
            nextNs = made + gapNs;
        }
        return waitNs;
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            long waitNs = tokenNs();
            if (waitNs > 0 && refuses) {
                exchange.sendResponseHeaders(429, -1);
                return;
            }
            TimeUnit.NANOSECONDS.sleep(waitNs);
            exchange.sendResponseHeaders(200, HELLO.length);
            exchange.getResponseBody().write(HELLO);
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts it", e);
        }
    }

    public static void main(String[] args) throws IOException {
        Limiter limiter = new Limiter(Double.parseDouble(args[2]), args[3].equals("refuses"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 4096);
        server.createContext("/", limiter::answer);
        server.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(args[1])));
        server.start();
    }
}
