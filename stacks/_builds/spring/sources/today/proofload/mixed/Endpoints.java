package proofload.mixed;

import java.time.Duration;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import reactor.core.publisher.Mono;

/**
 * The "WebFlux" of the virtual-threads write-up. Where the starters of both are there, Boot takes MVC: Tomcat answers,
 * and MVC's asynchronous dispatch waits for the Mono.
 */
@RestController("mixed")
class Endpoints {
    @GetMapping("/webflux/slowAPI")
    Mono<String> slow(@RequestParam("timeSlowness") long millis) {
        return Mono.just("success").delayElement(Duration.ofMillis(millis));
    }
}
