import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Where these servers listen: where they are told to, on this machine alone if nobody says, and otherwise as {@code new ServerSocket(port)} does. */
final class Listen {
    /** That of a {@code ServerSocket} which was told none. */
    private static final int BACKLOG = 50;

    private Listen() {}

    static ServerSocket on(int port) throws IOException {
        String address = System.getProperty("listen", "127.0.0.1");
        return new ServerSocket(port, BACKLOG, InetAddress.getByName(address));
    }
}
