package proofload.jetty;

import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.web.embedded.jetty.JettyServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.stereotype.Component;

/** How many threads Jetty has at most. Boot 2.1 has no property for it; 200 is Jetty's own. */
@Component
class Threads implements WebServerFactoryCustomizer<JettyServletWebServerFactory> {
    private final int max;

    Threads(@Value("${jetty.max-threads:200}") int max) {
        this.max = max;
    }

    @Override
    public void customize(JettyServletWebServerFactory factory) {
        factory.setThreadPool(new QueuedThreadPool(max));
    }
}
