import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/**
 * {@code VirtualGate PORT PERMITS MS}: a virtual thread for each request, of which PERMITS at a time have their turn, each for
 * MS: PERMITS/MS a second. No thread of the system is one of them.
 */
public final class VirtualGate {
    private VirtualGate() {}

    private static void answer(HttpExchange exchange, Semaphore permits, long ms) throws IOException {
        try (exchange) {
            permits.acquire();
            try {
                Thread.sleep(ms);
            } finally {
                permits.release();
            }
            byte[] body = {'h', 'e', 'l', 'l', 'o'};
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts it", e);
        }
    }

    public static void main(String[] args) throws IOException {
        Semaphore permits = new Semaphore(Integer.parseInt(args[1]));
        long ms = Long.parseLong(args[2]);
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 4096);
        server.createContext("/", exchange -> answer(exchange, permits, ms));
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
    }
}
