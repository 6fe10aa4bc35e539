import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;

/**
 * {@code Gate PORT THREADS HOW COUNT MS}: a pool with more threads than there are users, in which COUNT requests at a time have
 * their turn, each for MS: COUNT/MS a second. HOW is what they wait for.
 *
 * <ul>
 *   <li>{@code semaphore}: a permit
 *   <li>{@code handles}: one of as many things that are borrowed and given back, as connections to a database are
 *   <li>{@code lock}: a lock; COUNT is 1
 *   <li>{@code none}: nothing, so that N users get N/MS
 * </ul>
 */
public final class Gate {
    private Gate() {}

    private interface Turn {
        void taken(long ms) throws InterruptedException;
    }

    private static Turn turn(String how, int count) {
        return switch (how) {
            case "semaphore" -> semaphore(new Semaphore(count));
            case "handles" -> handles(new ArrayBlockingQueue<>(count), count);
            case "lock" -> lock(new ReentrantLock());
            default -> Thread::sleep;
        };
    }

    private static Turn semaphore(Semaphore permits) {
        return ms -> {
            permits.acquire();
            try {
                Thread.sleep(ms);
            } finally {
                permits.release();
            }
        };
    }

    private static Turn handles(BlockingQueue<Integer> idle, int count) {
        for (int handle = 0; handle < count; handle++) {
            idle.add(handle);
        }
        return ms -> {
            Integer handle = idle.take();
            try {
                Thread.sleep(ms);
            } finally {
                idle.add(handle);
            }
        };
    }

    private static Turn lock(ReentrantLock lock) {
        return ms -> {
            lock.lock();
            try {
                Thread.sleep(ms);
            } finally {
                lock.unlock();
            }
        };
    }

    private static void answer(HttpExchange exchange, Turn turn, long ms) throws IOException {
        try (exchange) {
            turn.taken(ms);
            byte[] body = {'h', 'e', 'l', 'l', 'o'};
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts it", e);
        }
    }

    public static void main(String[] args) throws IOException {
        ExecutorService threads = Executors.newFixedThreadPool(Integer.parseInt(args[1]));
        Turn turn = turn(args[2], Integer.parseInt(args[3]));
        long ms = Long.parseLong(args[4]);
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 4096);
        server.createContext("/", exchange -> answer(exchange, turn, ms));
        server.setExecutor(threads);
        server.start();
    }
}
