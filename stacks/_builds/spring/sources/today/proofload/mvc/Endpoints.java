package proofload.mvc;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
class Endpoints {
    @GetMapping("/hello")
    String hello() {
        return "world";
    }

    @GetMapping("/sleep")
    String sleep() throws InterruptedException {
        Thread.sleep(100);
        return "sleep";
    }

    @GetMapping("/slowAPI")
    String slow(@RequestParam("timeSlowness") long millis) throws InterruptedException {
        Thread.sleep(millis);
        return "success";
    }

    /**
     * The property for virtual threads is silently ignored on an old JDK, and their names do not show in /proc. By its
     * text, since this is compiled by JDK 17, too, whose threads are not asked whether they are virtual.
     */
    @GetMapping("/thread")
    String thread() {
        return Thread.currentThread().toString().startsWith("VirtualThread") ? "virtual" : "platform";
    }
}
