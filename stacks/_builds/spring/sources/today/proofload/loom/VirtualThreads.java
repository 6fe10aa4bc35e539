package proofload.loom;

import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.web.embedded.tomcat.TomcatProtocolHandlerCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A virtual thread a request, as it was done before Boot 3.2 had a property for it. */
@Configuration
@ConditionalOnProperty("virtual-threads")
class VirtualThreads {
    @Bean
    TomcatProtocolHandlerCustomizer<?> oneForEachRequest() {
        return handler -> handler.setExecutor(executor());
    }

    /** By its name, since this is compiled by JDK 17, too. Without virtual threads it does not start. */
    private static Executor executor() {
        try {
            return (Executor) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException("this Java has no virtual threads", error);
        }
    }
}
