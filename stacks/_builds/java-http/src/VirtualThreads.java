import java.io.IOException;
import java.lang.reflect.Method;
import java.util.concurrent.ThreadFactory;

/**
 * A virtual thread for each connection: the code is that of {@link ThreadPerConnection}.
 *
 * <p>Virtual threads came with Java 21, and this is compiled for 17 with the others; so they are looked up by name.
 */
public final class VirtualThreads {
    private static final Method IS_VIRTUAL = find(Thread.class, "isVirtual");

    private VirtualThreads() {}

    public static void main(String[] args) throws IOException, ReflectiveOperationException {
        Blocking.serve(Integer.parseInt(args[0]), factory());
    }

    /** What makes virtual threads; fails before Java 21. */
    static ThreadFactory factory() throws ReflectiveOperationException {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Method factory = Class.forName("java.lang.Thread$Builder").getMethod("factory");
        return (ThreadFactory) factory.invoke(builder);
    }

    /** Whether {@code thread} is virtual; before Java 21 none is. */
    static boolean isOne(Thread thread) {
        try {
            return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invoke(thread);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Method find(Class<?> type, String name) {
        try {
            return type.getMethod(name);
        } catch (NoSuchMethodException e) {
            return null;
        }
    }
}
