import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.util.Map;

/**
 * A virtual thread for each connection, which sleeps below a native frame: a thread can't leave its carrier then, and
 * carriers are as many as processors. Since Java 24 {@code synchronized} does not hold a thread to its carrier any more;
 * a class that is being initialised does, for it is the machine itself, native code, that calls the initialiser. So each
 * request makes a class of its own from the same bytes, and what sleeps is its initialiser.
 */
public final class Pinned {
    private static final byte[] SLEEPER = bytesOf("Pinned$Sleeper.class");

    private static volatile long sleepMs;

    private Pinned() {}

    /** Only ever defined again, under no name; never used by its own. */
    private static final class Sleeper {
        static {
            sleep();
        }
    }

    private static byte[] bytesOf(String file) {
        try (InputStream in = Pinned.class.getResourceAsStream(file)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static void sleep() {
        try {
            Thread.sleep(sleepMs);
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts it", e);
        }
    }

    private static void sleepInNativeFrame() {
        try {
            MethodHandles.lookup().defineHiddenClass(SLEEPER, true);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Answer after(Runnable work) {
        work.run();
        return Answer.HELLO;
    }

    /** The port, how long `/sleep` takes in ms, and where it sleeps: `native` or `java`. */
    public static void main(String[] args) throws IOException, ReflectiveOperationException {
        sleepMs = Long.parseLong(args[1]);
        Runnable sleep = switch (args[2]) {
            case "native" -> Pinned::sleepInNativeFrame;
            case "java" -> Pinned::sleep;
            default -> throw new IllegalArgumentException(args[2] + " is neither native nor java");
        };
        Answer.give(Map.of(
                "/hello", () -> Answer.HELLO,
                "/sleep", () -> after(sleep),
                "/thread", () -> VirtualThreads.isOne(Thread.currentThread()) ? Answer.VIRTUAL : Answer.PLATFORM));
        Blocking.serve(Integer.parseInt(args[0]), VirtualThreads.factory());
    }
}
