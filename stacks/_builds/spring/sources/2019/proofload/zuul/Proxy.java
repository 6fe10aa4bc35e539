package proofload.zuul;

import org.springframework.cloud.netflix.zuul.EnableZuulProxy;
import org.springframework.context.annotation.Configuration;

/** The route is an argument; one to a URL passes Ribbon and Hystrix by. */
@Configuration
@EnableZuulProxy
class Proxy {}
