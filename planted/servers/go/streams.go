// streams PORT STREAMS MS: HTTP/2 without TLS; each connection may carry STREAMS requests at a time, and each takes MS: over C
// connections C·STREAMS/MS a second.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	streams, err := strconv.Atoi(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	takes, err := time.ParseDuration(os.Args[3] + "ms")
	if err != nil {
		log.Fatal(err)
	}
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	server := http.Server{
		Addr:      "127.0.0.1:" + os.Args[1],
		Protocols: &protocols,
		HTTP2:     &http.HTTP2Config{MaxConcurrentStreams: streams},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(takes)
			io.WriteString(w, "hello")
		}),
	}
	log.Fatal(server.ListenAndServe())
}
