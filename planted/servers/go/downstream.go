// downstream PORT CONNECTIONS MS: each request asks a server behind, which takes MS for an answer however many ask, over
// CONNECTIONS that are kept open, or as many as are needed where that is 0: CONNECTIONS/MS a second, or N/MS.
package main

import (
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

func behind(takes time.Duration) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(takes)
		io.WriteString(w, "hello")
	}))
	return "http://" + listener.Addr().String()
}

func main() {
	connections, err := strconv.Atoi(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	takes, err := time.ParseDuration(os.Args[3] + "ms")
	if err != nil {
		log.Fatal(err)
	}
	url := behind(takes)
	client := http.Client{Transport: &http.Transport{MaxConnsPerHost: connections, MaxIdleConnsPerHost: 1000}}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer, err := client.Get(url)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer answer.Body.Close()
		io.Copy(w, answer.Body)
	})))
}
