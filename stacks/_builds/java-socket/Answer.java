import java.io.IOException;
import java.io.PrintWriter;
import java.net.Socket;

/** The one answer of these servers: the request stays unread, and the connection ends after it. */
final class Answer {
    private Answer() {}

    static void send(Socket socket, String body) {
        try {
            // Auto-flush: every println is a packet of its own, and ends as the platform's lines do.
            PrintWriter out = new PrintWriter(socket.getOutputStream(), true);
            out.println("HTTP/1.1 200 OK");
            out.println("Content-Type:text/html;charset=utf-8");
            out.println("Content-Length:" + body.getBytes().length);
            out.println();
            out.write(body);
            out.close();
            socket.close();
        } catch (IOException e) {
            e.printStackTrace();
        }
    }
}
