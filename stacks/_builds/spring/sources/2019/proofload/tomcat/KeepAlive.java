package proofload.tomcat;

import org.apache.coyote.http11.AbstractHttp11Protocol;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.web.embedded.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.stereotype.Component;

/**
 * After how many requests Tomcat closes a connection, -1 for never. Boot 2.1 has no property for it; 100 is Tomcat's
 * own.
 */
@Component
class KeepAlive implements WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> {
    private final int requests;

    KeepAlive(@Value("${tomcat.max-keep-alive-requests:100}") int requests) {
        this.requests = requests;
    }

    @Override
    public void customize(ConfigurableTomcatWebServerFactory factory) {
        factory.addConnectorCustomizers(connector -> {
            AbstractHttp11Protocol<?> protocol = (AbstractHttp11Protocol<?>) connector.getProtocolHandler();
            protocol.setMaxKeepAliveRequests(requests);
        });
    }
}
