import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * {@code Limiter PORT THREADS RATE}: RATE answers a second, however many ask: each waits for its turn, on a thread of a pool that
 * has more of them than there are users.
 */
public final class Limiter {
    private final long gapNs;
    private long nextNs = System.nanoTime();

    private Limiter(double rate) {
        gapNs = (long) (1e9 / rate);
    }

    /** How long to wait for the next turn, which is taken. */
    private synchronized long turnNs() {
        long now = System.nanoTime();
        nextNs = Math.max(now, nextNs) + gapNs;
        return nextNs - now;
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            TimeUnit.NANOSECONDS.sleep(turnNs());
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
