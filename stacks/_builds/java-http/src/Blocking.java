import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ThreadFactory;

/** A thread for each connection, which it belongs to until one of the two sides closes. */
final class Blocking {
    private Blocking() {}

    /** Accepts for ever, with a thread of {@code threads} for each connection. */
    static void serve(int port, ThreadFactory threads) throws IOException {
        try (ServerSocket server = new ServerSocket(port, Listen.BACKLOG, Listen.address())) {
            while (true) {
                Socket socket = Listen.accepted(server::accept);
                if (socket != null) {
                    start(threads, socket);
                }
            }
        }
    }

    private static void start(ThreadFactory threads, Socket socket) throws IOException {
        try {
            threads.newThread(() -> converse(socket)).start();
        } catch (OutOfMemoryError e) {
            // No thread to be had: this client goes, the server stays.
            System.err.println(e);
            socket.close();
        }
    }

    private static void converse(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            RequestReader reader = new RequestReader();
            Request request;
            do {
                while ((request = reader.next()) == null) {
                    int count = in.read(reader.bytes(), reader.filled(), reader.free());
                    if (count < 0) {
                        return;
                    }
                    reader.arrived(count);
                }
                var answer = Answer.to(request);
                out.write(answer.array(), 0, answer.limit());
            } while (request.keepsAlive());
        } catch (IOException e) {
            // The client has gone; there is nobody to tell.
        }
    }
}
