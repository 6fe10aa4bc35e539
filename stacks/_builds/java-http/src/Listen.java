import java.io.IOException;
import java.net.InetAddress;

/** What all of these servers do where connections come in. */
final class Listen {
    /** The accept queue; Java's default of 50 loses connections that come in a burst. */
    static final int BACKLOG = 4096;

    /** How long to wait for somebody to close a connection when there is no descriptor for another. */
    private static final long PAUSE_MS = 10;

    private Listen() {}

    /** Where they are told to listen; on this machine alone if nobody says. */
    static InetAddress address() throws IOException {
        return InetAddress.getByName(System.getProperty("listen", "127.0.0.1"));
    }

    interface Accept<C> {
        C accept() throws IOException;
    }

    /** What {@code accept} gives; null where it could not, after saying so. */
    static <C> C accepted(Accept<C> accept) {
        try {
            return accept.accept();
        } catch (IOException e) {
            System.err.println(e);
            try {
                Thread.sleep(PAUSE_MS);
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException("nobody interrupts it", interrupted);
            }
            return null;
        }
    }
}
