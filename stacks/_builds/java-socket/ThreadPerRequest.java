import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;

/** Starts a thread for every connection, which is every request. */
public final class ThreadPerRequest {
    private ThreadPerRequest() {}

    public static void main(String[] args) throws IOException {
        ServerSocket server = Listen.on(Integer.parseInt(args[0]));
        while (true) {
            try {
                Socket socket = server.accept();
                new Thread(() -> Answer.send(socket, "hello,nio2")).start();
            } catch (IOException e) {
                e.printStackTrace();
            }
        }
    }
}
