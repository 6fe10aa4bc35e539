import java.io.IOException;
import java.io.UncheckedIOException;

/** One thread accepts, waits for whoever is ready, and answers: while it sleeps for one client, all others wait. */
public final class SingleThread {
    private SingleThread() {}

    public static void main(String[] args) {
        // Not the main thread: of the name that one has, `java`, every JVM has two.
        new Thread(() -> serve(Integer.parseInt(args[0])), "http-single").start();
    }

    private static void serve(int port) {
        try {
            Ready.serve(port, Runnable::run);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
