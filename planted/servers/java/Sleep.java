import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;

/**
 * {@code Sleep PORT THREADS SHAPE MEAN_MS}: each answer sleeps on a thread of a pool that has more of them than there are users, and
 * nobody waits for anybody: N users get N / mean. SHAPE is {@code exponential}, {@code tail} (Pareto with exponent 1.5, from a third
 * of the mean on, to 30 times the mean), or {@code cache} (nine in ten take half of the mean).
 */
public final class Sleep {
    private Sleep() {}

    private static DoubleSupplier shape(String name, double mean) {
        return switch (name) {
            case "exponential" -> () -> -mean * Math.log(1 - random());
            case "tail" -> () -> Math.min(mean / 3 * Math.pow(1 - random(), -1 / 1.5), 30 * mean);
            default -> () -> mean * (random() < 0.9 ? 0.5 : 5.5);
        };
    }

    private static double random() {
        return ThreadLocalRandom.current().nextDouble();
    }

    private static void answer(HttpExchange exchange, DoubleSupplier waitMs) throws IOException {
        try (exchange) {
            TimeUnit.NANOSECONDS.sleep((long) (waitMs.getAsDouble() * 1e6));
            byte[] body = {'h', 'e', 'l', 'l', 'o'};
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts it", e);
        }
    }

    public static void main(String[] args) throws IOException {
        DoubleSupplier waitMs = shape(args[2], Double.parseDouble(args[3]));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 4096);
        server.createContext("/", exchange -> answer(exchange, waitMs));
        server.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(args[1])));
        server.start();
    }
}
