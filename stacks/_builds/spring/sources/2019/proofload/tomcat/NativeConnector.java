package proofload.tomcat;

import org.apache.catalina.core.AprLifecycleListener;
import org.apache.coyote.http11.Http11AprProtocol;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.web.embedded.tomcat.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.stereotype.Component;

/** The APR connector, which Boot 2.1 takes only from code. */
@Component
@ConditionalOnProperty("tomcat.apr")
class NativeConnector implements WebServerFactoryCustomizer<TomcatServletWebServerFactory> {
    @Override
    public void customize(TomcatServletWebServerFactory factory) {
        AprLifecycleListener listener = new AprLifecycleListener();
        // Loads the library. Tomcat itself does no more than log that it is missing.
        if (!AprLifecycleListener.isAprAvailable()) {
            throw new IllegalStateException("Tomcat Native is not in java.library.path ("
                    + System.getProperty("java.library.path") + "); install it (Debian: libtcnative-1)");
        }
        factory.setProtocol(Http11AprProtocol.class.getName());
        factory.addContextLifecycleListeners(listener);
    }
}
