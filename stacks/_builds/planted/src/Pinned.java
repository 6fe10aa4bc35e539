import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;

/**
 * A virtual thread for each connection, which sleeps below a native frame: a thread can't leave its carrier then, and
 * carriers are as many as processors. Since Java 24 `synchronized` does not hold a thread to its carrier any more; a
 * call back from C does. So C's `qsort` sorts two numbers here, and the comparison is what sleeps.
 */
public final class Pinned {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle QSORT = LINKER.downcallHandle(
            LINKER.defaultLookup().find("qsort").orElseThrow(),
            FunctionDescriptor.ofVoid(ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS));
    private static final MemorySegment COMPARE = compareStub();

    private static volatile long sleepMs;

    private Pinned() {}

    private static MemorySegment compareStub() {
        try {
            MethodHandle compare = MethodHandles.lookup().findStatic(
                    Pinned.class,
                    "compare",
                    MethodType.methodType(int.class, MemorySegment.class, MemorySegment.class));
            return LINKER.upcallStub(compare, FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS), Arena.global());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Called by C, once for two numbers. */
    private static int compare(MemorySegment one, MemorySegment other) {
        sleep();
        return 0;
    }

    private static void sleep() {
        try {
            Thread.sleep(sleepMs);
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts it", e);
        }
    }

    private static void sleepInNativeFrame() {
        try (Arena arena = Arena.ofConfined()) {
            QSORT.invokeExact(arena.allocate(JAVA_INT, 2), 2L, JAVA_INT.byteSize(), COMPARE);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static Answer after(Runnable work) {
        work.run();
        return Answer.HELLO;
    }

    /** The port, how long `/sleep` takes in ms, and where it sleeps: `native` or `java`. */
    public static void main(String[] args) throws IOException {
        sleepMs = Long.parseLong(args[1]);
        Runnable sleep = switch (args[2]) {
            case "native" -> Pinned::sleepInNativeFrame;
            case "java" -> Pinned::sleep;
            default -> throw new IllegalArgumentException(args[2] + " is neither native nor java");
        };
        Answer.give(Map.of(
                "/hello", () -> Answer.HELLO,
                "/sleep", () -> after(sleep),
                "/thread", () -> Thread.currentThread().isVirtual() ? Answer.VIRTUAL : Answer.PLATFORM));
        Blocking.serve(Integer.parseInt(args[0]), Thread.ofVirtual().factory());
    }
}
