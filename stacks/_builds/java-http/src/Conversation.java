import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** One connection that is never waited on: what came of a request, and what could not be sent of an answer. */
final class Conversation {
    /** Nothing more will be said. */
    static final int OVER = 0;

    private final SocketChannel channel;
    private final RequestReader reader = new RequestReader();
    private ByteBuffer unsent = ByteBuffer.allocate(0);
    private boolean isLast;

    Conversation(SocketChannel channel) {
        this.channel = channel;
    }

    SocketChannel channel() {
        return channel;
    }

    /** Reads once, answers each request that is whole, and says what to wait for: one of SelectionKey's, or OVER. */
    int proceed() throws IOException {
        if (unsent.hasRemaining()) {
            channel.write(unsent);
        } else {
            int count = channel.read(reader.space());
            if (count < 0) {
                return OVER;
            }
            reader.arrived(count);
        }
        while (!unsent.hasRemaining() && !isLast) {
            Request request = reader.next();
            if (request == null) {
                return SelectionKey.OP_READ;
            }
            unsent = Answer.to(request);
            isLast = !request.keepsAlive();
            channel.write(unsent);
        }
        return unsent.hasRemaining() ? SelectionKey.OP_WRITE : OVER;
    }
}
