import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

/** A thread of the system for each connection. */
public final class ThreadPerConnection {
    private ThreadPerConnection() {}

    public static void main(String[] args) throws IOException {
        AtomicInteger number = new AtomicInteger();
        Blocking.serve(
                Integer.parseInt(args[0]), task -> new Thread(task, "http-conn-" + number.incrementAndGet()));
    }
}
