import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Where these servers listen: on this machine alone, and otherwise as {@code new ServerSocket(port)} does. */
final class Listen {
    /** That of a {@code ServerSocket} which was told none. */
    private static final int BACKLOG = 50;

    private Listen() {}

    static ServerSocket on(int port) throws IOException {
        return new ServerSocket(port, BACKLOG, InetAddress.getLoopbackAddress());
    }
}
