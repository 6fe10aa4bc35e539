import java.io.IOException;
import java.net.ServerSocket;

/** Accepts and answers in the one thread there is. */
public final class SingleThread {
    private SingleThread() {}

    public static void main(String[] args) throws IOException {
        ServerSocket server = Listen.on(Integer.parseInt(args[0]));
        while (true) {
            try {
                Answer.send(server.accept(), "hello,nio1");
            } catch (IOException e) {
                e.printStackTrace();
            }
        }
    }
}
