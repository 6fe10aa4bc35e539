package proofload.mvc;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class Endpoints {
    private final String sleepAnswer;

    /** The write-ups' applications are the same but for this answer. */
    Endpoints(@Value("${answer.sleep:sleep}") String sleepAnswer) {
        this.sleepAnswer = sleepAnswer;
    }

    @GetMapping("/hello")
    String hello() {
        return "world";
    }

    @GetMapping("/sleep")
    String sleep() throws InterruptedException {
        Thread.sleep(100);
        return sleepAnswer;
    }
}
