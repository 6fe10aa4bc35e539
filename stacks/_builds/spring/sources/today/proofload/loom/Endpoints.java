package proofload.loom;

import java.time.Duration;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import reactor.core.publisher.Mono;

/** The same as those of proofload.mixed, beside virtual threads for a Boot that knows none. */
@RestController("loom")
class Endpoints {
    @GetMapping("/webflux/slowAPI")
    Mono<String> slow(@RequestParam("timeSlowness") long millis) {
        return Mono.just("success").delayElement(Duration.ofMillis(millis));
    }
}
