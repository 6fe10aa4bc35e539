import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Hands every connection to a pool of two threads more than there are processors; its queue is unbounded. */
public final class FixedPool {
    private FixedPool() {}

    public static void main(String[] args) throws IOException {
        ExecutorService pool = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors() + 2);
        ServerSocket server = Listen.on(Integer.parseInt(args[0]));
        while (true) {
            try {
                Socket socket = server.accept();
                pool.execute(() -> Answer.send(socket, "hello,nio"));
            } catch (IOException e) {
                e.printStackTrace();
            }
        }
    }
}
