import java.io.IOException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A thread for each connection, and memory that each request leaves in use for a while: until the live set is full of
 * newer. Where the live set takes most of the heap, the collector has to look at all of it again and again.
 */
public final class SmallHeap {
    /** Of one small object, with its header of 16: many of them, since the collector's work is by the object. */
    private static final int OBJECT_BYTES = 128;

    private static final int ARRAY_BYTES = OBJECT_BYTES - 16;

    private final int objectsPerRequest;
    /** What the last requests left, the oldest overwritten by the newest. */
    private final AtomicReferenceArray<byte[][]> live;
    private final AtomicLong requests = new AtomicLong();

    private SmallHeap(int allocationBytes, int liveBytes) {
        objectsPerRequest = Math.max(1, allocationBytes / OBJECT_BYTES);
        live = new AtomicReferenceArray<>(Math.max(1, liveBytes / allocationBytes));
    }

    private Answer hello() {
        byte[][] objects = new byte[objectsPerRequest][];
        for (int at = 0; at < objects.length; at++) {
            objects[at] = new byte[ARRAY_BYTES];
        }
        live.set((int) (requests.getAndIncrement() % live.length()), objects);
        return Answer.HELLO;
    }

    /** The port, KiB that a request allocates, MiB that stay in use. */
    public static void main(String[] args) throws IOException {
        SmallHeap heap = new SmallHeap(Integer.parseInt(args[1]) << 10, Integer.parseInt(args[2]) << 20);
        Answer.give(Map.of("/hello", heap::hello));
        AtomicInteger number = new AtomicInteger();
        Blocking.serve(
                Integer.parseInt(args[0]), task -> new Thread(task, "http-conn-" + number.incrementAndGet()));
    }
}
