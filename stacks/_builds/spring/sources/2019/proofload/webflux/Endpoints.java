package proofload.webflux;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The blocking ones are the write-up's point: which scheduler is blocked decides the rate. */
@RestController
class Endpoints {
    @GetMapping("/hello")
    Mono<String> hello() {
        return Mono.just("world");
    }

    /** As many threads as processors. */
    @GetMapping("/sleep")
    Mono<String> sleep() {
        return Mono.fromCallable(Endpoints::block).subscribeOn(Schedulers.parallel());
    }

    /** As many threads as are asked for. */
    @GetMapping("/sleep2")
    Mono<String> sleep2() {
        return Mono.fromCallable(Endpoints::block).subscribeOn(Schedulers.elastic());
    }

    private static String block() throws InterruptedException {
        Thread.sleep(100);
        return "world";
    }
}
