// One answer by net/http: without TLS over HTTP/1.1 and HTTP/2, or within TLS over whichever a client agrees on.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	http.HandleFunc("/hello", func(answer http.ResponseWriter, _ *http.Request) {
		answer.Header().Set("Content-Type", "text/plain")
		io.WriteString(answer, "hello")
	})
	server := http.Server{Addr: os.Args[1], Protocols: &protocols}
	if len(os.Args) > 2 {
		log.Fatal(server.ListenAndServeTLS(os.Args[2]+"/certificate.pem", os.Args[2]+"/key.pem"))
	}
	log.Fatal(server.ListenAndServe())
}
