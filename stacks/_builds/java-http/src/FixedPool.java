import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** One thread waits for whoever is ready; a pool of a fixed number of threads answers. Its queue is unbounded. */
public final class FixedPool {
    private FixedPool() {}

    public static void main(String[] args) throws IOException {
        int threads = args[1].equals("auto")
                ? Runtime.getRuntime().availableProcessors() + 2
                : Integer.parseInt(args[1]);
        AtomicInteger number = new AtomicInteger();
        Ready.serve(
                Integer.parseInt(args[0]),
                Executors.newFixedThreadPool(
                        threads, task -> new Thread(task, "http-pool-" + number.incrementAndGet())));
    }
}
