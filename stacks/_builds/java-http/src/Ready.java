import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Executor;

/**
 * Few threads for many connections. With keep-alive a thread that blocks belongs to whoever connected first, and
 * all others wait for ever; so a selector says who has sent something, and only such a connection gets a thread.
 */
final class Ready {
    private final Selector selector = Selector.open();
    private final ServerSocketChannel server = ServerSocketChannel.open();
    private final Executor executor;
    /** The thread that waits; it need not be woken by itself. */
    private final Thread waiting = Thread.currentThread();

    private Ready(int port, Executor executor) throws IOException {
        this.executor = executor;
        server.bind(new InetSocketAddress(Listen.address(), port), Listen.BACKLOG);
        server.configureBlocking(false);
        server.register(selector, SelectionKey.OP_ACCEPT);
    }

    /** Accepts and waits for ever on the calling thread, and answers by {@code executor}. */
    static void serve(int port, Executor executor) throws IOException {
        Ready ready = new Ready(port, executor);
        while (true) {
            ready.selector.select(ready::dispatch);
        }
    }

    private void dispatch(SelectionKey key) {
        if (key.isAcceptable()) {
            acceptAll();
        } else {
            // Until it is answered nobody else may take it.
            key.interestOps(0);
            executor.execute(() -> answer(key));
        }
    }

    private void acceptAll() {
        SocketChannel channel;
        while ((channel = Listen.accepted(server::accept)) != null) {
            try {
                channel.configureBlocking(false);
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                channel.register(selector, SelectionKey.OP_READ, new Conversation(channel));
            } catch (IOException e) {
                // It has gone before it said anything.
                close(channel);
            }
        }
    }

    private void answer(SelectionKey key) {
        Conversation conversation = (Conversation) key.attachment();
        try {
            int next = conversation.proceed();
            if (next != Conversation.OVER) {
                key.interestOps(next);
                if (Thread.currentThread() != waiting) {
                    selector.wakeup();
                }
                return;
            }
        } catch (IOException e) {
            // The client has gone; there is nobody to tell.
        }
        close(conversation.channel());
    }

    private static void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // It is closed either way.
        }
    }
}
