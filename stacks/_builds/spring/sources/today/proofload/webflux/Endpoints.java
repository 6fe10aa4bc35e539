package proofload.webflux;

import java.time.Duration;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

@RestController
class Endpoints {
    @GetMapping("/hello")
    Mono<String> hello() {
        return Mono.just("world");
    }

    /** Blocks one of as many threads as there are processors. */
    @GetMapping("/sleep")
    Mono<String> sleep() {
        return Mono.fromCallable(Endpoints::block).subscribeOn(Schedulers.parallel());
    }

    /** Blocks one of ten threads a processor. The unbounded scheduler of 2019 is gone. */
    @GetMapping("/sleep2")
    Mono<String> sleep2() {
        return Mono.fromCallable(Endpoints::block).subscribeOn(Schedulers.boundedElastic());
    }

    /** Blocks nothing. */
    @GetMapping("/slowAPI")
    Mono<String> slow(@RequestParam("timeSlowness") long millis) {
        return Mono.just("success").delayElement(Duration.ofMillis(millis));
    }

    private static String block() throws InterruptedException {
        Thread.sleep(100);
        return "world";
    }
}
